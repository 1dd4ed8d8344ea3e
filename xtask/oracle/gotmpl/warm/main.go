// Command warm renders one chart again and again in one process, and says how long one rendering takes.
//
//	warm DIRECTORY RENDERINGS
//
// The chart is loaded, and its dependencies are sorted out, before the clock runs: Helm changes a loaded chart when it
// does the latter. Measured is what `helm template` does after that: values are merged and checked, templates parsed and
// executed, manifests sorted. It prints the median time of a rendering in nanoseconds.
package main

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"helm.sh/helm/v4/pkg/chart/common"
	"helm.sh/helm/v4/pkg/chart/common/util"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	chartutil "helm.sh/helm/v4/pkg/chart/v2/util"
	"helm.sh/helm/v4/pkg/engine"
	releaseutil "helm.sh/helm/v4/pkg/release/v1/util"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "Error:", err)
		os.Exit(1)
	}
}

func run(arguments []string) error {
	if len(arguments) != 2 {
		return fmt.Errorf("a directory and a number of renderings are wanted")
	}
	renderings, err := strconv.Atoi(arguments[1])
	if err != nil {
		return err
	}
	chart, err := loader.Load(arguments[0])
	if err != nil {
		return err
	}
	if err := chartutil.ProcessDependencies(chart, common.Values{}); err != nil {
		return err
	}
	release := common.ReleaseOptions{Name: "bench", Namespace: "default", Revision: 1, IsInstall: true}
	var times []time.Duration
	for range renderings {
		begun := time.Now()
		values, err := util.ToRenderValues(chart, map[string]any{}, release, common.DefaultCapabilities)
		if err != nil {
			return err
		}
		files, err := engine.Render(chart, values)
		if err != nil {
			return err
		}
		for name := range files {
			if strings.HasSuffix(name, "NOTES.txt") {
				delete(files, name)
			}
		}
		if _, _, err := releaseutil.SortManifests(files, nil, releaseutil.InstallOrder); err != nil {
			return err
		}
		times = append(times, time.Since(begun))
	}
	slices.Sort(times)
	fmt.Println(times[len(times)/2].Nanoseconds())
	return nil
}
