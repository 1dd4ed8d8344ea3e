// Stands in for the Redis that the parts of Argo CD keep their caches in.
package main

import (
	"log"
	"os"
	"time"

	"github.com/alicebob/miniredis/v2"
)

func main() {
	redis := miniredis.NewMiniRedis()
	if err := redis.StartAddr(os.Args[1]); err != nil {
		log.Fatal(err)
	}
	// Time stands still in it unless somebody moves it, and what Argo CD remembers of a repository would never expire.
	for range time.Tick(time.Second) {
		redis.FastForward(time.Second)
	}
}
