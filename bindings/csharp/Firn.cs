// SPDX-License-Identifier: MIT
using System;
using System.Collections;
using System.Collections.Concurrent;
using System.Collections.Generic;
using System.Diagnostics;
using System.Globalization;
using System.Linq;
using System.Net.Http;
using System.Net.Http.Headers;
using System.Text.RegularExpressions;
using System.Threading;
using System.Threading.Tasks;

/// <summary>Unique IDs from firn serve, over HTTP, with HttpClient: one file, without other packages.</summary>
/// <example><code>
/// var firn = new Firn.Client(new[] { "http://ids1:7380", "http://ids2:7380" });
/// ulong id = await firn.NextAsync("snowflake");      // one ID: strict order, fresh time
/// ulong same = firn.Next("snowflake");
/// string uuid = firn.NextText("uuid7");
/// var ids = firn.Ids("snowflake");                   // from blocks, at most 1 ms old
/// ulong next = ids.Next();
/// </code></example>
namespace Firn
{
    /// <summary>Every error of this file. Reason: the name of the server's error ("USAGE", "STORE"), or its HTTP status.
    /// Cure: what to do, a part of the message; CureName: its name in firn.h. null: the error has none.</summary>
    public abstract class FirnException : Exception
    {
        public string Reason { get; }
        public string Cure { get; internal set; }
        public string CureName { get; internal set; }
        public string Value { get; internal set; }
        public string Limit { get; internal set; }
        protected FirnException(string text, string reason) : base(text) { Reason = reason; }
    }

    /// <summary>Servers answered that they cannot issue now, for longer than MaxWait. Try again later.</summary>
    public sealed class OverloadException : FirnException
    {
        public OverloadException(string text, string reason = null) : base(text, reason) { }
    }

    /// <summary>No server answered within MaxWait.</summary>
    public sealed class UnreachableException : FirnException
    {
        public UnreachableException(string text, string reason = null) : base(text, reason) { }
    }

    /// <summary>The request is wrong: an unknown scheme, a count out of range, a wrong token, the end of a segment. Never
    /// retried.</summary>
    public sealed class RequestException : FirnException
    {
        public RequestException(string text, string reason = null) : base(text, reason) { }
    }

    /// <summary>Settings of a client. A call ends within Timeout + MaxWait.</summary>
    public sealed class Options
    {
        /// <summary>Authenticates. null: none.</summary>
        public string Token { get; set; }

        /// <summary>Of a connection and a reply; more than the server's wait.</summary>
        public TimeSpan Timeout { get; set; } = TimeSpan.FromSeconds(2.5);

        /// <summary>Of retries.</summary>
        public TimeSpan MaxWait { get; set; } = TimeSpan.FromSeconds(5);

        /// <summary>The greatest number of IDs that an iterator keeps.</summary>
        public int Block { get; set; } = 256;

        /// <summary>Makes the connections: for certificates, proxies, tests. null: HttpClientHandler.</summary>
        public HttpMessageHandler Handler { get; set; }
    }

    /// <summary>A client of one or several servers that share a store. It asks the first one that answers, and stays with
    /// it until it fails. Any thread may use it; make one for the process.</summary>
    public sealed class Client : IDisposable
    {
        readonly string[] addresses;
        readonly Options options;
        readonly HttpClient http;
        readonly ConcurrentDictionary<string, string> widths = new ConcurrentDictionary<string, string>();
        int current;

        /// <param name="addresses">http://host:7380 or https://host:7380</param>
        public Client(IEnumerable<string> addresses, Options options = null)
        {
            this.addresses = addresses.Select(address => address.TrimEnd('/')).ToArray();
            if (this.addresses.Length == 0) throw new ArgumentException("there are no addresses: give at least one");
            this.options = options ?? new Options();
            var handler = this.options.Handler ?? new HttpClientHandler { AllowAutoRedirect = false, UseCookies = false };
            http = new HttpClient(handler, this.options.Handler == null)
            {
                Timeout = System.Threading.Timeout.InfiniteTimeSpan, // each attempt has its own
                MaxResponseContentBufferSize = 8 << 20
            };
            http.DefaultRequestHeaders.Accept.Add(new MediaTypeWithQualityHeaderValue("text/plain"));
            if (this.options.Token != null && !Regex.IsMatch(this.options.Token, "^[!-~]+\\z"))
                throw new ArgumentException("the token has a character that is not printable ASCII, such as a line end: remove it");
            if (this.options.Token != null)
                http.DefaultRequestHeaders.Authorization = new AuthenticationHeaderValue("Bearer", this.options.Token);
        }

        public void Dispose() => http.Dispose();

        public override string ToString() => "firn client of " + string.Join(" ", addresses.Select(WithoutToken));

        // ---- IDs of up to 64 bits ------------------------------------------------------------------------------------

        /// <summary>n IDs (1 to 65536), in order. fields: those of the scheme.</summary>
        public async Task<ulong[]> ManyAsync(string name, int n, IDictionary<string, string> fields = null,
            CancellationToken cancel = default(CancellationToken))
        {
            if (!widths.TryGetValue(name, out string width)) // asked of a server once per name
            {
                width = await CallAsync(HttpMethod.Get, new[] { "schemes", name }, Query(null),
                    text => Pairs(text).TryGetValue("bits", out string bits) ? bits : null, cancel).ConfigureAwait(false);
                widths[name] = width;
            }
            if (width.Length > 2 || string.CompareOrdinal(width.PadLeft(2), "64") > 0)
                throw new RequestException($"an ID of {name} has {width} bits: use the methods whose names end in Text");
            return await CallAsync(HttpMethod.Post, new[] { "new", name }, Query(fields, "n", Number(n), "as", "dec"),
                text => Numbers(text, n), cancel).ConfigureAwait(false);
        }

        /// <summary>One ID.</summary>
        public async Task<ulong> NextAsync(string name, IDictionary<string, string> fields = null,
            CancellationToken cancel = default(CancellationToken)) => (await ManyAsync(name, 1, fields, cancel).ConfigureAwait(false))[0];

        public ulong[] Many(string name, int n, IDictionary<string, string> fields = null) => Wait(ManyAsync(name, n, fields));
        public ulong Next(string name, IDictionary<string, string> fields = null) => Wait(NextAsync(name, fields));

        /// <summary>n IDs of a past time.</summary>
        public ulong[] At(string name, DateTimeOffset time, int n = 1) =>
            Many(name, n, new Dictionary<string, string> { ["time"] = Text(time) });

        /// <summary>An endless iterator that takes IDs from blocks: an ID is at most maxAge old (1 ms).</summary>
        public Ids Ids(string name, TimeSpan? maxAge = null, IDictionary<string, string> fields = null) =>
            new Ids(this, name, maxAge ?? TimeSpan.FromMilliseconds(1), options.Block, fields);

        /// <summary>The least and the greatest ID of a time span; `to` is not included.</summary>
        public (ulong Least, ulong Greatest) Range(string scheme, DateTimeOffset from, DateTimeOffset to)
        {
            var both = Wait(CallAsync(HttpMethod.Get, new[] { "range", scheme }, Query(null, "from", Text(from), "to", Text(to)),
                text => Numbers(text, 2)));
            return (both[0], both[1]);
        }

        // ---- IDs of any size, as text --------------------------------------------------------------------------------

        /// <summary>n IDs as text, such as UUIDs. form: "hex", "base32" ...; null: the one of the scheme.</summary>
        public Task<string[]> ManyTextAsync(string name, int n, string form = null, IDictionary<string, string> fields = null,
            CancellationToken cancel = default(CancellationToken))
        {
            var query = form == null ? Query(fields, "n", Number(n)) : Query(fields, "n", Number(n), "as", form);
            return CallAsync(HttpMethod.Post, new[] { "new", name }, query, text => Lines(text, n), cancel);
        }

        public async Task<string> NextTextAsync(string name, string form = null, IDictionary<string, string> fields = null,
            CancellationToken cancel = default(CancellationToken)) => (await ManyTextAsync(name, 1, form, fields, cancel).ConfigureAwait(false))[0];

        public string[] ManyText(string name, int n, string form = null, IDictionary<string, string> fields = null) =>
            Wait(ManyTextAsync(name, n, form, fields));
        public string NextText(string name, string form = null, IDictionary<string, string> fields = null) =>
            Wait(NextTextAsync(name, form, fields));

        // ---- reading -------------------------------------------------------------------------------------------------

        /// <summary>The fields of an ID: "scheme", "time", "unix_ns", "fields.node", "candidates" ...</summary>
        public IReadOnlyDictionary<string, string> Show(string id, string scheme = null) =>
            Wait(CallAsync(HttpMethod.Get, new[] { "show", id },
                scheme == null ? Query(null) : Query(null, "scheme", scheme), text => Pairs(text).ContainsKey("id") ? Pairs(text) : null));

        /// <summary>The schemes that an ID may be of, the likeliest first.</summary>
        public string[] Guess(string id) => Show(id).TryGetValue("candidates", out string names) ? names.Split(' ') : new string[0];

        /// <summary>An ID in another form or scheme.</summary>
        public string Convert(string id, string form) =>
            Wait(CallAsync(HttpMethod.Get, new[] { "convert", id }, Query(null, "to", form), text => Lines(text, 1)))[0];

        // ---- integers of segments ------------------------------------------------------------------------------------

        /// <summary>The next integer of a segment.</summary>
        public long Integer(string key) => checked((long)Wait(CallAsync(HttpMethod.Post, new[] { "segments", key },
            Query(null, "n", "1"), text => Numbers(text, 1)))[0]);

        /// <summary>Reserves n integers of a segment: the first, the last, and the step from one to the next.</summary>
        public (long First, long Last, long Step) Integers(string key, long n)
        {
            var block = Wait(CallAsync(HttpMethod.Post, new[] { "block", key }, Query(null, "n", Number(n)),
                text => Numbers(text.Replace(' ', '\n'), 3)));
            long first = checked((long)block[0]), step = (long)block[1];
            return (first, checked(first + ((long)block[2] - 1) * step), step);
        }

        // ---- replies -------------------------------------------------------------------------------------------------

        static string[] Lines(string text, int n)
        {
            var lines = text.Split('\n');
            if (lines.Length != n + 1 || lines[n].Length != 0) return null;
            Array.Resize(ref lines, n);
            return lines.All(line => line.Length > 0 && line.All(c => c > ' ' && c <= '~')) ? lines : null;
        }

        static ulong[] Numbers(string text, int n)
        {
            var lines = Lines(text, n);
            var ids = new ulong[lines == null ? 0 : n];
            for (int i = 0; i < ids.Length; i++)
                if (!ulong.TryParse(lines[i], NumberStyles.None, CultureInfo.InvariantCulture, out ids[i])) return null;
            return lines == null ? null : ids;
        }

        static Dictionary<string, string> Pairs(string text)
        {
            var pairs = new Dictionary<string, string>();
            foreach (string line in text.Split('\n'))
            {
                int blank = line.IndexOf(' ');
                if (blank > 0) pairs[line.Substring(0, blank)] = line.Substring(blank + 1);
            }
            return pairs;
        }

        static string Text(DateTimeOffset time) =>
            time.UtcDateTime.ToString("yyyy-MM-dd'T'HH:mm:ss.fffffff'Z'", CultureInfo.InvariantCulture);
        static string Number(long n) => n.ToString(CultureInfo.InvariantCulture);
        static string WithoutToken(string address) => Regex.Replace(address, "//.*@", "//");
        static T Wait<T>(Task<T> task) => task.GetAwaiter().GetResult();

        // ---- requests ------------------------------------------------------------------------------------------------

        static string Query(IDictionary<string, string> fields, params string[] pairs)
        {
            var all = (fields ?? new Dictionary<string, string>())
                .Select(field => Uri.EscapeDataString(field.Key) + "=" + Uri.EscapeDataString(field.Value)).ToList();
            for (int i = 0; i < pairs.Length; i += 2) all.Add(pairs[i] + "=" + Uri.EscapeDataString(pairs[i + 1]));
            all.Add("format=text");
            return "?" + string.Join("&", all);
        }

        // Sends a request to one server after the other until one replies. `read` checks the reply; null: it is malformed.
        // Sending it again issues nothing twice: IDs that got lost are skipped.
        async Task<T> CallAsync<T>(HttpMethod method, string[] path, string query, Func<string, T> read,
            CancellationToken cancel = default(CancellationToken)) where T : class
        {
            string target = "/v1/" + string.Join("/", path.Select(Uri.EscapeDataString)) + query;
            var clock = Stopwatch.StartNew();
            var pause = TimeSpan.Zero;
            var failures = new SortedDictionary<string, string>();
            OverloadException busy = null;
            for (int attempt = 1; attempt == 1 || clock.Elapsed + pause <= options.MaxWait; attempt++)
            {
                int here = Volatile.Read(ref current);
                string address = addresses[here];
                var (status, text) = await AskAsync(method, address + target, cancel).ConfigureAwait(false);
                T result = status == 200 ? read(text) : null;
                if (result != null) return result;
                string detail = Member(text, "detail"), reason = Member(text, "code") ?? Number(status);
                if (status == 429 || status == 503)
                    busy = WithParts(new OverloadException($"the servers are overloaded ({detail ?? "HTTP status " + status}): try again later", reason), text);
                else if (status >= 400 && status < 500 && detail != null)
                    throw WithParts(new RequestException(detail, reason), text);
                else
                    failures[WithoutToken(address)] = status == 0 ? text : status == 200 ? "malformed reply" : "HTTP status " + status;
                Interlocked.CompareExchange(ref current, (here + 1) % addresses.Length, here);
                if (attempt % addresses.Length != 0) continue;
                // a pause after each round
                var jitter = 0.5 + (Stopwatch.GetTimestamp() & 1023) / 2048.0;
                await Task.Delay(TimeSpan.FromTicks((long)(pause.Ticks * jitter)), cancel).ConfigureAwait(false);
                pause = TimeSpan.FromMilliseconds(Math.Min(Math.Max(pause.TotalMilliseconds * 2, 10), 500));
            }
            if (busy != null) throw busy;
            throw new UnreachableException("no server answered (" + string.Join("; ", failures.Select(pair => pair.Key + ": " + pair.Value)) +
                "): start firn serve there, or correct the addresses");
        }

        // Status and body; status 0: no reply, and why.
        async Task<(int, string)> AskAsync(HttpMethod method, string uri, CancellationToken cancel)
        {
            using (var limit = CancellationTokenSource.CreateLinkedTokenSource(cancel))
            using (var request = new HttpRequestMessage(method, uri))
            {
                limit.CancelAfter(options.Timeout);
                if (method == HttpMethod.Post) request.Content = new ByteArrayContent(new byte[0]);
                try
                {
                    using (var response = await http.SendAsync(request, HttpCompletionOption.ResponseContentRead, limit.Token)
                        .ConfigureAwait(false))
                    {
                        string text = await response.Content.ReadAsStringAsync().ConfigureAwait(false);
                        return ((int)response.StatusCode, text);
                    }
                }
                catch (Exception error) when (error is HttpRequestException || error is OperationCanceledException || error is System.IO.IOException)
                {
                    cancel.ThrowIfCancellationRequested();
                    return (0, error is OperationCanceledException ? $"no reply within {options.Timeout.TotalMilliseconds} ms"
                        : (error.InnerException ?? error).Message);
                }
            }
        }

        static T WithParts<T>(T error, string json) where T : FirnException
        {
            error.Cure = Member(json, "cure");
            error.CureName = Member(json, "cure_name");
            error.Value = Member(json, "value");
            error.Limit = Member(json, "limit");
            return error;
        }

        // A text member of a small JSON object (application/problem+json), without a package for JSON.
        static string Member(string json, string name)
        {
            var found = Regex.Match(json, "\"" + name + "\":\"((?:[^\"\\\\]|\\\\.)*)\"");
            return found.Success ? Regex.Unescape(found.Groups[1].Value.Replace("\\/", "/")) : null;
        }
    }

    /// <summary>An endless iterator of Client.Ids. Any thread may use it.</summary>
    public sealed class Ids : IEnumerable<ulong>
    {
        readonly Client client;
        readonly string name;
        readonly TimeSpan maxAge;
        readonly int most;
        readonly IDictionary<string, string> fields;
        readonly object gate = new object();
        ulong[] block = new ulong[0];
        int taken;
        Stopwatch age = Stopwatch.StartNew();

        internal Ids(Client client, string name, TimeSpan maxAge, int most, IDictionary<string, string> fields)
        {
            this.client = client;
            this.name = name;
            this.maxAge = maxAge;
            this.most = most;
            this.fields = fields;
        }

        /// <summary>The next ID, from the block if it is fresh.</summary>
        public ulong Next()
        {
            lock (gate)
            {
                if (taken >= block.Length || age.Elapsed > maxAge) Refill();
                return block[taken++];
            }
        }

        // A new block is as large as the used part of the last one, or twice as large if all of it was used.
        void Refill()
        {
            int size = taken < block.Length ? Math.Max(taken, 1) : Math.Max(block.Length * 2, 1);
            var asked = Stopwatch.StartNew(); // an ID is issued after this
            block = client.Many(name, Math.Min(size, most), fields);
            age = asked;
            taken = 0;
        }

        public IEnumerator<ulong> GetEnumerator()
        {
            while (true) yield return Next();
        }

        IEnumerator IEnumerable.GetEnumerator() => GetEnumerator();
    }
}
