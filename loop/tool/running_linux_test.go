package tool

func zombie(pid int) bool {
	s, ok := readStat(pid)
	return ok && s.state == 'Z'
}
