// SPDX-License-Identifier: GPL-2.0-only
package main

import "sync"

//go:noinline
func spin(n int) int {
	for i := 0; i < 30000000; i++ {
		n = n*3 + i
	}
	return n
}

func main() {
	var all sync.WaitGroup
	for i := 0; i < 4; i++ {
		all.Add(1)
		go func(i int) {
			defer all.Done()
			if spin(i) == 42 {
				println(i)
			}
		}(i)
	}
	all.Wait()
}
