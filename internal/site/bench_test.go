package site

import (
	"fmt"
	"testing"

	"github.com/sitelet/sitelet/internal/source"
)

// BenchmarkParse reads 200 resources, in a file each.
func BenchmarkParse(b *testing.B) {
	var files []source.File
	for i := range 200 {
		files = append(files, source.File{Path: fmt.Sprintf("%d.yaml", i), Data: fmt.Appendf(nil, `apiVersion: skupper.io/v2alpha1
kind: Listener
metadata:
  name: listener-%d
  labels: {app: shop}
spec:
  host: 127.0.0.1
  port: %d
  routingKey: key-%d
  tlsCredentials: tls-%d
`, i, 1000+i, i, i)})
	}
	b.ReportAllocs()
	for b.Loop() {
		rs := Parse("ns1", files, Env{})
		if rs.CheckPorts(nil); len(rs.Listeners) != 200 {
			b.Fatal(rs.Findings())
		}
	}
}
