// Command benchguest times file operations inside a guest: it prints a line an
// operation, its name and the nanoseconds it took.
package main

import (
	"fmt"
	"os"
	"time"
)

const files = 1000

func name(i int) string { return fmt.Sprintf("/a/b/c%d/f%03d", i/100%10, i%100) }

func main() {
	measure("stat", files, func(i int) error {
		_, err := os.Stat(name(i))
		return err
	})
	measure("read", files, func(i int) error {
		_, err := os.ReadFile(name(i))
		return err
	})
	measure("list", 100, func(i int) error {
		list, err := os.ReadDir(fmt.Sprintf("/a/b/d%d", i%10))
		if err == nil && len(list) != 10 {
			err = fmt.Errorf("%d entries", len(list))
		}
		return err
	})
	measure("write", files, func(i int) error {
		return os.WriteFile(name(i)+"n", []byte("0123456789abcdef"), 0o600)
	})
	measure("rename", files, func(i int) error { return os.Rename(name(i), name(i)+"r") })
	measure("remove", files, func(i int) error { return os.Remove(name(i) + "r") })
	big, err := os.Create("/big")
	if err != nil {
		panic(err)
	}
	buf := make([]byte, 64<<10)
	measure("bigwrite", 1024, func(int) error {
		_, err := big.Write(buf)
		return err
	})
	if _, err := big.Seek(0, 0); err != nil {
		panic(err)
	}
	measure("bigread", 1024, func(int) error {
		_, err := big.Read(buf)
		return err
	})
}

func measure(what string, n int, op func(i int) error) {
	began := time.Now()
	for i := range n {
		if err := op(i); err != nil {
			panic(err)
		}
	}
	fmt.Println(what, time.Since(began).Nanoseconds()/int64(n))
}
