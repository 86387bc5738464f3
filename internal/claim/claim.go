// Package claim redeems access tokens: it asks another site for the certificate and the links that a token stands for, as
// internal/nonkube/common/claim_redeemer.go of skupperproject/skupper does.
package claim

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
	"unicode"

	"github.com/sitelet/sitelet/internal/site"
)

// maxAnswer bounds what is read of an answer: a Secret and a link for each of a site's addresses.
const maxAnswer = 1 << 20

// Client redeems tokens. Its zero value is ready for use.
type Client struct {
	Timeout time.Duration // for all of it; 0: 10 s, as upstream
}

// Error says why a token could not be redeemed.
type Error struct {
	Message string // a sentence about the token without its subject and full stop
	Hint    string // what to do
}

func (e *Error) Error() string { return e.Message + ". " + e.Hint }

// Redeem asks for what a token stands for, in the name of a subject: the site. The errors are of type *Error and never hold the
// token's code. It can be done once for most tokens, so what comes back is to be kept.
func (c Client) Redeem(ctx context.Context, token site.AccessToken, subject string) (Redeemed, error) {
	timeout := c.Timeout
	if timeout == 0 {
		timeout = 10 * time.Second
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	answer, err := ask(ctx, token, subject)
	if err != nil {
		return Redeemed{}, err
	}
	return read(answer, token)
}

// ask sends the request and returns the answer's body.
func ask(ctx context.Context, token site.AccessToken, subject string) ([]byte, error) {
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM([]byte(token.CA)) {
		return nil, &Error{"has a ca without a certificate", "Have a new token issued, or correct spec.ca."}
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, token.URL, strings.NewReader(token.Code))
	if err != nil || request.URL.Scheme != "https" {
		return nil, &Error{"has a url that is not an https URL", "Have a new token issued, or correct spec.url."}
	}
	request.Header.Set("name", token.Name)
	request.Header.Set("subject", subject)
	transport := &http.Transport{
		TLSClientConfig:   &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS13},
		DisableKeepAlives: true, MaxResponseHeaderBytes: 1 << 16,
	}
	client := http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	response, err := client.Do(request)
	if err != nil {
		return nil, unreachable(request.URL.Host, err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer+1))
	switch {
	case response.StatusCode != http.StatusOK:
		return nil, refusal(response, body)
	case err != nil:
		return nil, unreachable(request.URL.Host, err)
	case len(body) > maxAnswer:
		return nil, &Error{fmt.Sprintf("was answered by %s with more than %d bytes", request.URL.Host, maxAnswer), "Check that spec.url is that of a grant."}
	}
	return body, nil
}

// unreachable explains an error of net/http without the URL, which holds the grant's id.
func unreachable(host string, err error) error {
	var authority x509.UnknownAuthorityError
	var name x509.HostnameError
	var invalid x509.CertificateInvalidError
	var alert tls.AlertError
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return &Error{"could not be redeemed in time: " + host + " does not answer", "Check that this host can reach the other site's grant server; it is tried again."}
	case errors.As(err, &authority), errors.As(err, &name), errors.As(err, &invalid):
		return &Error{"was not sent: " + host + " has a certificate that the token's ca does not vouch for (" + cause(err) + ")", "Have a new token issued; if that does not help, something stands between the two sites."}
	case errors.As(err, &alert), strings.Contains(err.Error(), "tls: "):
		return &Error{"was not sent: " + host + " does not speak TLS 1.3 as a grant server does (" + cause(err) + ")", "Check that spec.url is that of a grant, and that no proxy stands between the two sites."}
	}
	return &Error{"could not be redeemed: " + host + " cannot be reached (" + cause(err) + ")", "Check that this host can reach the other site's grant server; it is tried again."}
}

// cause is the innermost error's text.
func cause(err error) string {
	for {
		inner := errors.Unwrap(err)
		if inner == nil {
			return line([]byte(err.Error()))
		}
		err = inner
	}
}

// refusal explains an answer other than 200. Upstream's grants (internal/kube/grants/grants.go) answer 404 for what is unknown,
// expired or used up, and 403 for a wrong code.
func refusal(response *http.Response, body []byte) error {
	host, said := response.Request.URL.Host, fmt.Sprintf("%d", response.StatusCode)
	if text := line(body); text != "" {
		said += ", " + text
	}
	switch status := response.StatusCode; {
	case status == http.StatusNotFound:
		return &Error{"is not good any more: its grant is unknown, expired or used up (" + host + " answered " + said + ")", "Have a new token issued by the other site."}
	case status == http.StatusForbidden:
		return &Error{"was refused (" + host + " answered " + said + ")", "Check spec.code, or have a new token issued by the other site."}
	case status >= 300 && status < 400:
		return &Error{"was answered by " + host + " with a redirection, which is not followed as the code is meant for one place", "Check that spec.url is that of a grant."}
	case status >= 500:
		return &Error{"could not be redeemed (" + host + " answered " + said + ")", "Look at the other site's grant server; it is tried again."}
	}
	return &Error{"could not be redeemed (" + host + " answered " + said + ")", "Check that spec.url is that of a grant."}
}

// line returns the start of a text in one line, with what is not printable left out.
func line(text []byte) string {
	const most = 200
	clean := strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) && r != unicode.ReplacementChar {
			return r
		}
		return -1
	}, string(bytes.Join(bytes.Fields(text[:min(len(text), 2*most)]), []byte(" "))))
	if runes := []rune(clean); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return clean
}
