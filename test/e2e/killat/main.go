// Killat runs a command and kills it, alone and with SIGKILL, right before one of its steps: what it does to files, what it has podman
// do, and what it asks systemd for.
//
//	killat FILE COMMAND [ARG]...
//
// FILE says when, as N STEP for the N-th time that the command, and those that are run with the same FILE after it, come to that
// step. When one was killed, FILE.killed is there in its place. Every step is written to FILE.steps before it is done. Without
// FILE the command just runs.
package main

import (
	"errors"
	"fmt"
	"io/fs"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"unsafe"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("killat: ")
	if len(os.Args) < 3 {
		log.Fatal("usage: killat FILE COMMAND [ARG]...")
	}
	file, args := os.Args[1], os.Args[2:]
	path, err := exec.LookPath(args[0])
	if err != nil {
		log.Fatal(err)
	}
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		log.Fatal(syscall.Exec(path, args, os.Environ()))
	}
	v := victim{waiting: map[int]string{}}
	if _, err := fmt.Sscanf(string(text), "%d ", &v.left); err != nil {
		log.Fatalf("%s: %v", file, err)
	}
	_, v.step, _ = strings.Cut(strings.TrimSpace(string(text)), " ")
	if v.steps, err = os.OpenFile(file+".steps", os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644); err != nil {
		log.Fatal(err)
	}
	status, err := v.run(path, args)
	if err != nil {
		log.Fatal(err)
	}
	if v.left > 0 {
		err = os.WriteFile(file, fmt.Appendln(nil, v.left, v.step), 0o644)
	} else {
		err = os.Rename(file, file+".killed")
	}
	if err != nil {
		log.Fatal(err)
	}
	if status.Signaled() {
		// For systemd, too.
		_ = syscall.Kill(os.Getpid(), status.Signal())
		select {}
	}
	os.Exit(status.ExitStatus())
}

// victim is a process whose threads are traced, and whose children are not.
type victim struct {
	pid   int
	steps *os.File // of those done
	step  string   // that it is killed at
	left  int      // when it has come to that so often; 0 once it is killed

	waiting map[int]string // what threads wait for, by thread
}

func (v *victim) run(path string, args []string) (status syscall.WaitStatus, err error) {
	runtime.LockOSThread() // which is the one that traces
	v.pid, err = syscall.ForkExec(path, args, &syscall.ProcAttr{
		Env: os.Environ(), Files: []uintptr{0, 1, 2}, Sys: &syscall.SysProcAttr{Ptrace: true},
	})
	if err != nil {
		return status, err
	}
	if _, err := syscall.Wait4(v.pid, &status, 0, nil); err != nil {
		return status, err
	}
	const sysGood, exitKill = 1, 0x100000 // ptrace(2)
	if err := syscall.PtraceSetOptions(v.pid, sysGood|exitKill|syscall.PTRACE_O_TRACECLONE); err != nil {
		return status, err
	}
	for pid, signal := v.pid, 0; ; {
		// It fails for what has been killed meanwhile.
		_ = syscall.PtraceSyscall(pid, signal)
		if pid, err = syscall.Wait4(-1, &status, syscall.WALL, nil); err != nil {
			return status, err
		}
		signal = 0
		switch {
		case pid == v.pid && !status.Stopped():
			return status, nil
		case !status.Stopped():
		case status.StopSignal() == syscall.SIGTRAP|0x80:
			v.look(pid)
		case status.StopSignal() != syscall.SIGTRAP && status.StopSignal() != syscall.SIGSTOP:
			signal = int(status.StopSignal())
		}
	}
}

// call is the beginning of struct ptrace_syscall_info of linux/ptrace.h.
type call struct {
	Op       uint8 // of the two below
	_        [23]uint8
	Number   uint64 // at the exit the result
	Argument [6]uint64
	_        [16]uint64
}

const entry, exit = 1, 2

// look counts the system call that a thread has come to, and ends it all if it is the one.
func (v *victim) look(thread int) {
	var c call
	const getSyscallInfo = 0x420e
	_, _, errno := syscall.Syscall6(syscall.SYS_PTRACE, getSyscallInfo, uintptr(thread), unsafe.Sizeof(c), uintptr(unsafe.Pointer(&c)), 0, 0)
	if errno != 0 || v.left == 0 {
		return
	}
	step := ""
	switch {
	case c.Op == entry && c.Number == syscall.SYS_WAITID:
		command := v.child()
		if command != "" {
			step = "during " + command
		}
		v.waiting[thread] = command
	case c.Op == entry:
		step = describe(thread, c)
	case c.Op == exit && v.waiting[thread] != "":
		step = "after " + v.waiting[thread]
		delete(v.waiting, thread)
	}
	if step == "" {
		return
	}
	step = random.ReplaceAllString(step, "N")
	fmt.Fprintln(v.steps, step)
	if step != v.step {
		return
	}
	if v.left--; v.left == 0 {
		_ = syscall.Kill(v.pid, syscall.SIGKILL)
	}
}

// random is what names of temporary files differ in.
var random = regexp.MustCompile(`[0-9a-f]{24}|[0-9]{6,}`)

// child returns what the process's child does to containers; empty if it only looks at them.
func (v *victim) child() string {
	lists, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", v.pid))
	for _, list := range lists {
		children, _ := os.ReadFile(list)
		for _, child := range strings.Fields(string(children)) {
			line, _ := os.ReadFile("/proc/" + child + "/cmdline")
			args := strings.Split(string(line), "\x00")
			if i := slices.IndexFunc(args, func(arg string) bool { return slices.Contains(changes, arg) }); i >= 0 {
				return "podman " + args[i]
			}
		}
	}
	return ""
}

// changes are the commands of podman that change something.
var changes = []string{"create", "rename", "rm", "update", "start", "stop"}

// describe says what a system call does, if that is a step.
func describe(thread int, c call) string {
	text := func(address, size uint64) string {
		data := make([]byte, size)
		n, _ := syscall.PtracePeekData(thread, uintptr(address), data)
		return string(data[:n])
	}
	path := func(address uint64) string {
		name, _, _ := strings.Cut(text(address, 256), "\x00")
		return name
	}
	switch c.Number {
	case syscall.SYS_RENAMEAT:
		return "rename to " + path(c.Argument[3])
	case syscall.SYS_UNLINKAT:
		// What a directory held goes by its name in that alone: it is one step with the directory.
		if removed := path(c.Argument[1]); filepath.IsAbs(removed) {
			return "remove " + removed
		}
	case syscall.SYS_OPENAT:
		if c.Argument[2]&syscall.O_TRUNC != 0 {
			return "write " + path(c.Argument[1])
		}
	case syscall.SYS_EXIT_GROUP:
		return "exit"
	case syscall.SYS_WRITE:
		message := text(c.Argument[1], min(c.Argument[2], 1024))
		for _, method := range []string{"RestartUnit", "StartUnit", "StopUnit", "ResetFailedUnit", "Reload"} {
			if strings.Contains(message, "\x00"+method+"\x00") && strings.Contains(message, "org.freedesktop.systemd1.Manager") {
				return "ask systemd for " + method
			}
		}
	}
	return ""
}
