package cmd

import (
	"os"

	"golang.org/x/sys/windows"
)

// width is how many columns a terminal has, 0 if it does not say.
func width(f *os.File) int {
	var info windows.ConsoleScreenBufferInfo
	if err := windows.GetConsoleScreenBufferInfo(windows.Handle(f.Fd()), &info); err != nil {
		return 0
	}
	return int(info.Window.Right-info.Window.Left) + 1
}
