// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package retail

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/utils/clock"

	"github.com/diskbench/diskbench/internal/azure/catalog"
)

// DefaultURL is the API's address.
const DefaultURL = "https://prices.azure.com/api/retail/prices"

// apiVersion is the first whose answers have all meters, and whose filters compare with case.
const apiVersion = "2023-01-01-preview"

// The bounds of a fetch (judgment). A region's disks are a few hundred meters, on pages of 100 or 1,000.
const (
	maxPages     = 20
	maxBodyBytes = 8 << 20
	// requestTimeout of one page, body included.
	requestTimeout = 30 * time.Second
	// maxRetryAfter is the longest that a fetch waits for the API; one asked to wait longer gives up.
	maxRetryAfter = 2 * time.Minute
	// maxRedirects are as many as net/http follows.
	maxRedirects = 10
)

// attempts at one page: at once, and after about 1, 2 and 4 seconds.
var attempts = wait.Backoff{Duration: time.Second, Factor: 2, Jitter: 0.5, Steps: 4, Cap: 30 * time.Second}

// Client reads the API. It is safe for concurrent use.
//
// It retries by itself, since the usual libraries do not fit: go-retryablehttp is under the MPL, and
// what is left of the work beside wait.Backoff is to obey Retry-After.
type Client struct {
	base    *url.URL
	catalog catalog.Catalog
	clock   clock.Clock
	http    *http.Client
}

// NewClient makes a client of an API or a mirror of it at an address, empty for DefaultURL. The catalog
// says which tiers there are. HTTPS_PROXY, HTTP_PROXY and NO_PROXY are respected. It is an error when the
// address is none of HTTP.
func NewClient(address string, c catalog.Catalog, at clock.Clock) (*Client, error) {
	base, err := url.Parse(cmp.Or(address, DefaultURL))
	if err != nil || base.Host == "" || (base.Scheme != "https" && base.Scheme != "http") || base.RawQuery != "" || base.User != nil {
		return nil, fmt.Errorf("%q is no address of a Retail Prices API: write it like %s, without a query", address, DefaultURL)
	}
	client := &Client{base: base, catalog: c, clock: at}
	client.http = &http.Client{
		Timeout: requestTimeout,
		// http.DefaultTransport takes the proxy from the environment.
		Transport: http.DefaultTransport,
		CheckRedirect: func(r *http.Request, via []*http.Request) error {
			if len(via) >= maxRedirects {
				return errors.New("too many redirects")
			}
			return client.sameHost(r.URL)
		},
	}
	return client, nil
}

// Fetched are the prices of a region in a currency.
type Fetched struct {
	Prices []catalog.Price
	// Odd says which prices were left out, and why.
	Odd []string
	At  time.Time
}

var (
	regionName   = regexp.MustCompile(`^[a-z0-9]{1,40}$`)
	currencyCode = regexp.MustCompile(`^[A-Z]{3}$`)
)

// normalize writes region and currency as the API does. What cannot be one is refused, so that none is
// a piece of a filter.
func normalize(region, currency string) (r, c string, err error) {
	r, c = catalog.NormalizeRegion(region), strings.ToUpper(cmp.Or(currency, "USD"))
	if !regionName.MatchString(r) {
		return "", "", fmt.Errorf("%q is no name of an Azure region: write it like westeurope", region)
	}
	if !currencyCode.MatchString(c) {
		return "", "", fmt.Errorf("%q is no ISO 4217 code of a currency: write it like EUR", currency)
	}
	return r, c, nil
}

// Fetch reads the list prices of all disks of a region. The prices are whole or there is an error: a
// product that cannot be read fails the fetch.
func (c *Client) Fetch(ctx context.Context, region, currency string) (Fetched, error) {
	region, currency, err := normalize(region, currency)
	if err != nil {
		return Fetched{}, err
	}
	var items []item
	for _, q := range queries {
		found, err := c.pages(ctx, c.address(q, region, currency))
		if err != nil {
			return Fetched{}, fmt.Errorf("prices of %s in %s in %s from %s: %w", q.product, region, currency, c.base, err)
		}
		items = append(items, found...)
	}
	at := place{region: region, currency: currency, source: c.base.String(), now: c.clock.Now()}
	prices, odd := toPrices(c.catalog, items, at)
	if len(prices) == 0 {
		return Fetched{}, fmt.Errorf("%s has no prices of disks in %s in %s: are the names right?", c.base, region, currency)
	}
	return Fetched{Prices: prices, Odd: odd, At: at.now}, nil
}

// address of the first page of a query. Currency and filter values stand in quotes.
func (c *Client) address(q query, region, currency string) string {
	filter := fmt.Sprintf("serviceName eq 'Storage' and armRegionName eq '%s' and productName eq '%s' and priceType eq '%s'", region, q.product, q.priceType)
	values := url.Values{"api-version": {apiVersion}, "currencyCode": {"'" + currency + "'"}, "$filter": {filter}}
	u := *c.base
	// Encode writes a blank as +, which is a plus outside of forms.
	u.RawQuery = strings.ReplaceAll(values.Encode(), "+", "%20")
	return u.String()
}

// pages follows the links from page to page.
func (c *Client) pages(ctx context.Context, address string) ([]item, error) {
	var items []item
	seen := map[string]bool{}
	for address != "" {
		if seen[address] {
			return nil, fmt.Errorf("the pages form a loop: NextPageLink leads back to %.200s", address)
		}
		if len(seen) == maxPages {
			return nil, fmt.Errorf("there are more than %d pages", maxPages)
		}
		seen[address] = true
		p, err := c.patiently(ctx, address)
		if err != nil {
			return nil, err
		}
		items = append(items, p.Items...)
		if address, err = c.next(p.NextPageLink); err != nil {
			return nil, err
		}
	}
	return items, nil
}

// next is the address of the next page; empty after the last.
func (c *Client) next(link string) (string, error) {
	if link == "" {
		return "", nil
	}
	u, err := c.base.Parse(link)
	if err != nil {
		return "", fmt.Errorf("NextPageLink is no address: %w", err)
	}
	return u.String(), c.sameHost(u)
}

// sameHost refuses to be led elsewhere. The API writes its port into links, https://prices.azure.com:443.
func (c *Client) sameHost(u *url.URL) error {
	if u.Scheme != c.base.Scheme || !strings.EqualFold(u.Hostname(), c.base.Hostname()) || port(u) != port(c.base) {
		return &elsewhereError{from: c.base.Scheme + "://" + c.base.Host, to: u.Scheme + "://" + u.Host}
	}
	return nil
}

// elsewhereError is a link or a redirect to another host.
type elsewhereError struct{ from, to string }

func (e *elsewhereError) Error() string {
	return fmt.Sprintf("a link leads from %s to %.100s, which is not followed: a mirror must write its own address into NextPageLink", e.from, e.to)
}

func port(u *url.URL) string {
	return cmp.Or(u.Port(), map[string]string{"https": "443", "http": "80"}[u.Scheme])
}

// transientError is worth another attempt.
type transientError struct{ error }

func (e *transientError) Unwrap() error { return e.error }

// busyError is an answer that asks for another attempt, after a while.
type busyError struct {
	status string
	// after is what Retry-After says; 0 without it.
	after time.Duration
}

func (e *busyError) Error() string {
	if e.after > 0 {
		return fmt.Sprintf("the API answered %s, and to come back after %s", e.status, e.after)
	}
	return "the API answered " + e.status
}

// patiently gets a page, again and again after what may pass.
func (c *Client) patiently(ctx context.Context, address string) (page, error) {
	backoff := attempts
	for {
		p, err := c.get(ctx, address)
		if err == nil {
			return p, nil
		}
		// The last attempt leaves no step.
		pause := backoff.Step()
		again := backoff.Steps > 0
		if busy, ok := errors.AsType[*busyError](err); ok {
			pause = max(pause, busy.after)
			again = again && pause <= maxRetryAfter
		} else if _, ok := errors.AsType[*transientError](err); !ok {
			again = false
		}
		if !again {
			return page{}, err
		}
		if waited := c.wait(ctx, pause); waited != nil {
			return page{}, fmt.Errorf("%w, after: %w", waited, err)
		}
	}
}

func (c *Client) wait(ctx context.Context, pause time.Duration) error {
	timer := c.clock.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C():
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// get gets a page once.
func (c *Client) get(ctx context.Context, address string) (page, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return page{}, err
	}
	request.Header.Set("Accept", "application/json")
	answer, err := c.http.Do(request)
	if err != nil {
		return page{}, c.failed(ctx, err)
	}
	defer answer.Body.Close() //nolint:errcheck // what was read counts
	switch {
	case answer.StatusCode == http.StatusOK:
		return decodePage(answer.Body, maxBodyBytes)
	case answer.StatusCode == http.StatusTooManyRequests || answer.StatusCode >= http.StatusInternalServerError:
		// A connection is used again only after its answer was read.
		_, _ = io.CopyN(io.Discard, answer.Body, 64<<10)
		return page{}, &busyError{status: answer.Status, after: c.retryAfter(answer.Header.Get("Retry-After"))}
	}
	return page{}, fmt.Errorf("the API answered %s", answer.Status)
}

// failed says without the long address what went wrong. Everything but a refused redirect and the end
// of the context may pass.
func (c *Client) failed(ctx context.Context, err error) error {
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		err = wrapped.Err
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if elsewhere, ok := errors.AsType[*elsewhereError](err); ok {
		return elsewhere
	}
	return &transientError{err}
}

// retryAfter reads the header, in seconds or as a date; 0 for another text.
func (c *Client) retryAfter(header string) time.Duration {
	if seconds, err := strconv.ParseUint(header, 10, 31); err == nil {
		return time.Duration(seconds) * time.Second
	}
	if at, err := http.ParseTime(header); err == nil {
		return max(0, at.Sub(c.clock.Now()))
	}
	return 0
}
