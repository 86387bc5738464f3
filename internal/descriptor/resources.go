package descriptor

import "fmt"

// minMemory is upstream's lower bound.
const minMemory = 3 << 20

// readMemory reads host_config.resources. An empty memory_swap is twice the memory, as in upstream and Podman.
func readMemory(resources value) Memory {
	limit, reservation, swap := resources.get("memory"), resources.get("memory_reservation"), resources.get("memory_swap")
	m := Memory{Limit: limit.size(minMemory), Reservation: reservation.size(1)}
	unlimited := swap.text() == "-1"
	if !unlimited {
		m.Swap = swap.size(1)
	}
	if m.Limit == 0 {
		if m.Swap != 0 && limit.text() == "" {
			swap.fail("needs memory to be set too", `Write "memory", or leave this out.`)
		}
		return m
	}
	switch {
	case unlimited:
		m.Swap = -1
	case swap.text() == "":
		m.Swap = 2 * m.Limit
	case m.Swap != 0 && m.Swap < m.Limit:
		swap.fail(fmt.Sprintf("%s is less than memory, which is %s", quote(swap.text()), quote(limit.text())),
			"Write the sum of memory and swap.")
	}
	if m.Reservation > m.Limit {
		reservation.fail(fmt.Sprintf("%s is more than memory, which is %s", quote(reservation.text()), quote(limit.text())),
			"Write less.")
	}
	return m
}

// readLog reads host_config.log_config. What is said of files means nothing when there are none.
func readLog(config value) Log {
	driver, mode := config.get("driver_config"), config.get("mode_config")
	if v := mode.get("mode"); v.text() == "non-blocking" {
		v.fail("Podman's log writer always blocks", `Write "blocking".`)
	} else {
		v.choice("blocking")
	}
	if v := mode.get("max_buffer_size"); v.text() != "" {
		v.warnKey("has no effect, since the log writer has no buffer", "Remove it.")
	}

	l := Log{Driver: driver.get("type").choice("json-file", "none")}
	files, size, dir := driver.get("max_files"), driver.get("max_size"), driver.get("root_dir")
	if l.Driver == "none" {
		for _, v := range []value{files, size, dir} {
			if !v.empty() {
				v.warnKey(`has no effect with the type "none"`, "Remove it.")
			}
		}
		return l
	}
	l.MaxFiles, l.MaxSize = 2, 100<<20
	if n, ok := files.integer(1, 1<<31-1); ok {
		l.MaxFiles = int(n)
	}
	if n := size.size(1); n > 0 {
		l.MaxSize = n
	}
	if l.MaxSize > largest/int64(l.MaxFiles) {
		size.fail("times max_files is more than "+formatSize(largest), "Write less.")
	}
	if dir.text() != "" {
		l.RootDir = absolutePath(dir)
	}
	return l
}
