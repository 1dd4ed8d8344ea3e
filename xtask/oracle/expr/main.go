// Answers what the expression language of Argo CD's notifications makes of expressions: one on each line of the standard
// input, one answer on each line of the standard output. An answer is JSON with the Go type of the result, or the step
// that failed. The environment is the one that Argo CD gives to triggers, without what asks a repository.
//
//	go run . < crates/notify/tests/expr/questions.txt > crates/notify/tests/expr/answers.txt
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/expr-lang/expr"
)

func main() {
	environment := environment(os.Args[1])
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(make([]byte, 1<<20), 1<<24)
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	for lines.Scan() {
		line := lines.Text()
		if line == "" || strings.HasPrefix(line, "//") {
			continue
		}
		fmt.Fprintln(out, answer(line, environment))
	}
}

// answer is what Argo CD's notifications would see.
func answer(text string, environment map[string]any) string {
	program, err := expr.Compile(text)
	if err != nil {
		return "compile"
	}
	value, err := expr.Run(program, environment)
	if err != nil {
		return "run"
	}
	encoded, err := json.Marshal(value)
	if err != nil {
		return "json"
	}
	return fmt.Sprintf("%T %s %v", value, encoded, strings.ReplaceAll(fmt.Sprintf("%v", value), "\n", "\\n"))
}

func environment(path string) map[string]any {
	text, err := os.ReadFile(path)
	if err != nil {
		panic(err)
	}
	decoder := json.NewDecoder(strings.NewReader(string(text)))
	decoder.UseNumber()
	var values map[string]any
	if err := decoder.Decode(&values); err != nil {
		panic(err)
	}
	result := whole(values).(map[string]any)
	result["strings"] = map[string]any{
		"ReplaceAll": func(s, from, to string) string { return strings.ReplaceAll(s, from, to) },
		"ToUpper":    func(s string) string { return strings.ToUpper(s) },
		"ToLower":    func(s string) string { return strings.ToLower(s) },
	}
	result["time"] = map[string]any{
		"Parse": func(s string) time.Time {
			parsed, err := time.Parse(time.RFC3339, s)
			if err != nil {
				panic(err)
			}
			return parsed
		},
		"Now":    func() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) },
		"Minute": time.Minute, "Second": time.Second, "Hour": time.Hour, "Millisecond": time.Millisecond,
		"RFC3339": time.RFC3339, "Kitchen": time.Kitchen, "RFC822": time.RFC822,
	}
	return result
}

// whole makes numbers as Kubernetes' decoder does: int64 where they are whole, float64 otherwise.
func whole(value any) any {
	switch value := value.(type) {
	case map[string]any:
		for key, item := range value {
			value[key] = whole(item)
		}
		return value
	case []any:
		for at, item := range value {
			value[at] = whole(item)
		}
		return value
	case json.Number:
		if number, err := value.Int64(); err == nil {
			return number
		}
		number, _ := value.Float64()
		return number
	}
	return value
}
