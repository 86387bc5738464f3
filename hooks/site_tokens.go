package hooks

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/sitelet/sitelet/internal/claim"
	"github.com/sitelet/sitelet/internal/diag"
	"github.com/sitelet/sitelet/internal/site"
	"github.com/sitelet/sitelet/internal/state"
)

const (
	// firstRetry is how long a token that could not be redeemed waits, and lastRetry what that doubles up to.
	firstRetry = 30 * time.Second
	lastRetry  = time.Hour
)

// redeemAll redeems the tokens of a site that never were and whose time has come, and reports whether it tried any. What they were
// redeemed for is in the record before anything else happens: a token can be redeemed once.
func (h Hooks) redeemAll(ctx context.Context, s *Site) (tried bool) {
	due := h.due(s)
	var record sync.Mutex
	inTurns(len(due), func(i int) {
		h.Log("namespace %s: redeeming the AccessToken %s", s.Namespace, due[i].Name)
		got, err := claim.Client{}.Redeem(ctx, due[i], s.Resources.Site.Name)
		if ctx.Err() != nil && err != nil {
			return // whoever stopped this has not found out anything about the token
		}
		record.Lock()
		defer record.Unlock()
		h.noteRedeemed(s, due[i], got, err)
	})
	return len(due) > 0
}

// due returns the tokens that wait to be redeemed now.
func (h Hooks) due(s *Site) []site.AccessToken {
	if s.impossible() || s.Resources.Site == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(s.Resources.AccessTokens), func(token site.AccessToken) bool {
		t := s.record.Token(token.Name, tokenDigest(token))
		return t.Document != nil || h.Now().Before(t.Next)
	})
}

// noteRedeemed keeps what a token was redeemed for, or when it is to be tried again.
func (h Hooks) noteRedeemed(s *Site, token site.AccessToken, got claim.Redeemed, err error) {
	t := s.record.Token(token.Name, tokenDigest(token))
	if err == nil {
		*t = state.Token{Name: t.Name, Digest: t.Digest, Document: documents(got)}
	} else {
		t.Tries++
		t.Failure, t.Next = err.Error(), h.now().Add(min(lastRetry, firstRetry<<min(t.Tries-1, 10)))
		h.Log("namespace %s: the AccessToken %s was not redeemed: %v; it is tried again after %s", s.Namespace, token.Name, err, t.Next.Format(time.RFC3339))
	}
	if err := h.store().WriteSite(s.record); err != nil {
		h.Log("namespace %s: %v", s.Namespace, err)
	}
}

// documents joins what a token was redeemed for.
func documents(r claim.Redeemed) []byte {
	text := r.Secret.Data
	for _, link := range r.Links {
		text = append(append(text, "\n---\n"...), link.Data...)
	}
	return text
}

// tokenDigest tells a token from another one of its name.
func tokenDigest(t site.AccessToken) string {
	h := sha256.New()
	for _, text := range []string{t.URL, t.Code, t.CA} {
		fmt.Fprintf(h, "%d:%s", len(text), text)
	}
	return hex.EncodeToString(h.Sum(nil)[:12])
}

// reportTokens says of each token that was not redeemed why, as its own error: links of other tokens are none of its business.
func reportTokens(s *Site) {
	for _, token := range s.Resources.AccessTokens {
		if t := s.record.Token(token.Name, tokenDigest(token)); t.Failure != "" {
			token.Report(diag.Diagnostic{File: token.File, Line: token.Line, Column: token.Column, Field: "spec.url",
				Message: "the token was not redeemed: it " + strings.TrimSuffix(t.Failure, "."), Hint: "It is tried again after " + t.Next.Format(time.RFC3339) + "."})
		}
	}
}
