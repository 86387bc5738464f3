package descriptor

import "strings"

// checkCircles finds containers that wait for themselves through others.
func (s *set) checkCircles() {
	tangled := entangled(s.good)
	for _, c := range s.good {
		if tangled[c.Name] == nil {
			continue
		}
		for _, e := range c.edges() {
			if way := wayTo(c.Name, e.to, tangled); way != nil {
				s.fail(c, e.at, e.field, "containers wait for each other in a circle: "+circle(c.Name, way), "Remove one of these.")
				break
			}
		}
	}
}

// entangled returns the containers that are on a circle or lead to one, by name: what is left when those that wait for
// nothing that is left are taken away, over and over.
func entangled(cs []*Container) map[string]*Container {
	left := make(map[string]*Container, len(cs))
	for _, c := range cs {
		left[c.Name] = c
	}
	waiting, waiters := make(map[string]int), make(map[string][]string)
	var free []string
	for _, c := range cs {
		for _, e := range c.edges() {
			if left[e.to] != nil {
				waiting[c.Name]++
				waiters[e.to] = append(waiters[e.to], c.Name)
			}
		}
		if waiting[c.Name] == 0 {
			free = append(free, c.Name)
		}
	}
	for ; len(free) > 0; free = free[1:] {
		delete(left, free[0])
		for _, name := range waiters[free[0]] {
			if waiting[name]--; waiting[name] == 0 {
				free = append(free, name)
			}
		}
	}
	return left
}

// wayTo returns the names on a shortest way along edges from start to goal, with both ends; nil if there is none.
func wayTo(goal, start string, byName map[string]*Container) []string {
	if byName[start] == nil {
		return nil
	}
	from := map[string]string{start: ""}
	for queue := []string{start}; len(queue) > 0; queue = queue[1:] {
		if queue[0] == goal {
			var way []string
			for name := goal; name != ""; name = from[name] {
				way = append([]string{name}, way...)
			}
			return way
		}
		for _, e := range byName[queue[0]].edges() {
			if _, seen := from[e.to]; !seen && byName[e.to] != nil {
				from[e.to] = queue[0]
				queue = append(queue, e.to)
			}
		}
	}
	return nil
}

// circle writes a way that leads back to name, without the middle of a long one.
func circle(name string, way []string) string {
	const most = 8
	if len(way) > most {
		way = append(append(way[:most/2:most/2], "…"), way[len(way)-most/2:]...)
	}
	return name + " → " + strings.Join(way, " → ")
}
