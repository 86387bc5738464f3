package router

import "slices"

// ordinal counts the versions of a profile's files that the router has read; 0 is the one it started with.
func ordinal(profile Entity) int {
	n, _ := profile.Get("ordinal").(int)
	return n
}

// Retire returns what to ask for the router to let go of connections that were made with files older than those it has read last of
// the named TLS profiles: to be asked once the peers trust the new ones. Have is what the router reports for Types.
func Retire(have []Entity, names []string) []Request {
	var requests []Request
	for _, h := range live(have) {
		oldest, _ := h.Get("oldestValidOrdinal").(int)
		if h.Type == "sslProfile" && slices.Contains(names, h.Name) && oldest < ordinal(h) {
			requests = append(requests, Request{Update, Entity{h.Type, h.Name, []Attribute{{"oldestValidOrdinal", ordinal(h)}}}})
		}
	}
	return requests
}
