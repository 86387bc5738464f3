// Package spelling finds out what a misspelt name was meant to be.
package spelling

import "strings"

// Nearest returns the word that name differs from in its capitals alone, or else the first of the words that it differs from by
// the fewest slips of the pen, if they are few for its length: one for a name of up to three bytes, three from eight on. A slip adds, drops or replaces a byte, or swaps it with
// the next (the optimal string alignment distance).
func Nearest(name string, words []string) (word string, ok bool) {
	for _, w := range words {
		if strings.EqualFold(w, name) {
			return w, true
		}
	}
	fewest := 1 + min(3, (len(name)+1)/3)
	for _, w := range words {
		if n := slips(name, w, fewest); n < fewest {
			word, fewest, ok = w, n, true
		}
	}
	return word, ok
}

// slips counts the slips from a to b. From limit on it may return anything that is no less.
func slips(a, b string, limit int) int {
	if len(a)-len(b) >= limit || len(b)-len(a) >= limit {
		return limit
	}
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := range len(a) {
		row[0] = i + 1
		for j := range len(b) {
			replaced := last[j]
			if a[i] != b[j] {
				replaced++
			}
			row[j+1] = min(replaced, last[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
