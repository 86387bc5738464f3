package descriptor

import (
	"fmt"
	"strconv"
	"strings"
)

// largest leaves room for the double of a size.
const largest = 1 << 60

// parseSize returns the bytes of a size: a number and one of B, K, M and G of either case, 1024-based, with at most one
// blank between. As upstream's documentation promises, though not its code, B may be written or left out; then, and
// only then, the number must be whole. Fractions of a byte are dropped. What is more than largest is one more than that.
func parseSize(s string) (int64, bool) {
	number, unit := s, int64(1)
	if s != "" {
		switch s[len(s)-1] | 0x20 {
		case 'b':
			number = s[:len(s)-1]
		case 'k':
			number, unit = s[:len(s)-1], 1<<10
		case 'm':
			number, unit = s[:len(s)-1], 1<<20
		case 'g':
			number, unit = s[:len(s)-1], 1<<30
		}
	}
	if len(number) < len(s) {
		number = strings.TrimSuffix(number, " ")
	}
	whole, fraction, fractional := strings.Cut(number, ".")
	if !digits(whole) || fractional && (!digits(fraction) || unit == 1) {
		return 0, false
	}
	// A whole number of bytes has an exact float64 up to 2^53, and multiplying by a power of two keeps it exact.
	f, _ := strconv.ParseFloat(number, 64) // too large a number is infinite
	if f*float64(unit) > largest {
		return largest + 1, true
	}
	return int64(f * float64(unit)), true
}

func digits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}

// size returns the bytes of a size of at least low; 0 when it is absent, empty or was refused.
func (v value) size(low int64) int64 {
	s := v.text()
	if s == "" {
		return 0
	}
	n, ok := parseSize(s)
	switch {
	case !ok:
		v.fail(quote(s)+" is not a size", `Write a number and B, K, M or G, such as "200M".`)
		return 0
	case n < low:
		v.fail(fmt.Sprintf("%s is less than %s", quote(s), formatSize(low)), "Write more.")
		return 0
	case n > largest:
		v.fail(fmt.Sprintf("%s is more than %s", quote(s), formatSize(largest)), "Write less.")
		return 0
	}
	return n
}

// formatSize writes n as parseSize reads it, in the largest unit that keeps it whole.
func formatSize(n int64) string {
	units := "BKMG"
	i := 0
	for i < len(units)-1 && n != 0 && n%1024 == 0 {
		n /= 1024
		i++
	}
	return strconv.FormatInt(n, 10) + units[i:i+1]
}
