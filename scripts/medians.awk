# Reads lines "NAME wall user rss" of several rounds and prints a table of
# medians, then the ratios that -v ratios names: LABEL|METRIC|A|B|PER, joined by
# ";". METRIC is u (user) or w (wall); the ratio is A / B / PER.
{
	n[$1]++; wall[$1, n[$1]] = $2; user[$1, n[$1]] = $3; rss[$1, n[$1]] = $4
	if (!($1 in seen)) { seen[$1] = 1; order[++k] = $1 }
}

function median(a, name, m,   i, j, v, t) {
	for (i = 1; i <= m; i++) v[i] = a[name, i] + 0
	for (i = 1; i <= m; i++) for (j = i + 1; j <= m; j++) if (v[j] < v[i]) { t = v[i]; v[i] = v[j]; v[j] = t }
	return v[int((m + 1) / 2)]
}

END {
	printf "%-22s %8s %8s %9s\n", "command", "wall s", "user s", "RSS MiB"
	for (i = 1; i <= k; i++) {
		c = order[i]; at["w", c] = median(wall, c, n[c]); at["u", c] = median(user, c, n[c])
		printf "%-22s %8.2f %8.2f %9.1f\n", c, at["w", c], at["u", c], median(rss, c, n[c]) / 1024
	}
	count = split(ratios, list, ";")
	for (i = 1; i <= count; i++) {
		split(list[i], r, "|")
		printf "%s: %.2f\n", r[1], at[r[2], r[3]] / at[r[2], r[4]] / r[5]
	}
}
