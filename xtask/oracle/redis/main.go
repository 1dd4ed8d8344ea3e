// Stands in for the Redis that the parts of Argo CD keep their caches in.
package main

import (
	"log"
	"os"

	"github.com/alicebob/miniredis/v2"
)

func main() {
	if err := miniredis.NewMiniRedis().StartAddr(os.Args[1]); err != nil {
		log.Fatal(err)
	}
	select {}
}
