package pki

import (
	"slices"
	"testing"
	"time"
)

func TestAges(t *testing.T) {
	site, users := testCA(t, "site", now), testCA(t, "corp", now.Add(-year))
	leaf, old := testLeaf(t, "web", site, now), testLeaf(t, "old", users, now.Add(year))
	lasts := func(b Bundle) (due, end time.Time) {
		from := parseOne(t, b.Cert).NotBefore
		return from.Add(life * 2 / 3).Truncate(time.Second), from.Add(life)
	}
	age := func(name string, b Bundle, more func(*Age)) Age {
		a := Age{Name: name}
		a.Due, a.End = lasts(b)
		more(&a)
		return a
	}
	in := Input{
		Have:  []Given{given("site", site), given("corp", users)},
		InUse: []Given{given("web", leaf), given("held", leaf), given("bad", Bundle{Cert: []byte("nonsense")}), given("trust", Bundle{CA: site.CA})},
	}
	given := old
	wants := []Want{
		{Kind: Authority, Name: "site", Subject: "site"},
		{Kind: Authority, Name: "corp", Subject: "another name than the certificate's"},
		{Kind: Authority, Name: "not yet"},
		{Name: "web"},
		{Name: "held", Hold: true},
		{Name: "bad"},
		{Name: "link", Given: &given, From: "the Secret"},
		{Kind: Trust, Name: "trust"},
		{Kind: Password, Name: "proxy"},
	}
	got := Ages(in, wants)
	for i := range got {
		got[i].Due = got[i].Due.Truncate(time.Second)
	}
	want := []Age{
		age("site", site, func(a *Age) { a.Authority, a.Renewed = true, true }),
		age("corp", users, func(a *Age) { a.Authority = true }),
		age("web", leaf, func(a *Age) { a.Renewed = true }),
		age("held", leaf, func(*Age) {}),
		// Its CA goes before it.
		age("link", users, func(a *Age) { a.From = "the Secret" }),
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%v\nwant\n%v", got, want)
	}
}
