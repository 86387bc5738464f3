package descriptor

// nearest returns the word that name was most likely meant to be: the first of those with the fewest slips, if they
// are few for its length.
func nearest(name string, words []string) (string, bool) {
	best, fewest := "", 1+min(3, (len(name)+1)/3)
	for _, w := range words {
		if n := slips(name, w, fewest); n < fewest {
			best, fewest = w, n
		}
	}
	return best, best != ""
}

// slips counts the bytes to add, drop, replace or swap with their neighbour to get from a to b (the optimal string
// alignment distance). It may stop at any count of limit or more.
func slips(a, b string, limit int) int {
	if len(a)-len(b) >= limit || len(b)-len(a) >= limit {
		return limit
	}
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			replace := last[j-1]
			if a[i-1] != b[j-1] {
				replace++
			}
			row[j] = min(replace, last[j]+1, row[j-1]+1)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
