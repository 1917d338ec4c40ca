// SPDX-License-Identifier: MIT
// The driver of the C# client: see test/clients/clients.py.
using System;
using System.Collections.Concurrent;
using System.Collections.Generic;
using System.Diagnostics;
using System.Globalization;
using System.Linq;
using System.Net.Http;
using System.Security.Cryptography.X509Certificates;
using System.Text.RegularExpressions;
using System.Threading;

static class Drive
{
    static readonly Dictionary<string, Firn.Client> clients = new Dictionary<string, Firn.Client>();
    static readonly Dictionary<string, Firn.Ids> kept = new Dictionary<string, Firn.Ids>();

    static void Main()
    {
        for (string line; (line = Console.ReadLine()) != null;)
        {
            string said;
            try
            {
                said = string.Join(" ", new[] { "ok" }.Concat(Answer(line.Split(' ').Select(Uri.UnescapeDataString).ToArray())));
            }
            catch (Firn.FirnException error)
            {
                string kind = error.GetType().Name.Replace("Exception", "").ToLowerInvariant();
                said = $"error {kind} {error.Reason ?? "-"} {Regex.Replace(error.Message, @"\s+", " ")}";
            }
            Console.Write(said + "\n");
            Console.Out.Flush();
        }
    }

    static DateTimeOffset Time(string text) => DateTimeOffset.Parse(text, CultureInfo.InvariantCulture, DateTimeStyles.AssumeUniversal);
    static int Count(string text) => (int)Math.Max(Math.Min(long.Parse(text), int.MaxValue), int.MinValue);

    static IEnumerable<string> Answer(string[] words)
    {
        clients.TryGetValue(words[1], out var client);
        switch (words[0])
        {
            case "open": clients[words[1]] = Open(words.Skip(2)); return new string[0];
            case "next": return new[] { words[2] == "uuid7" ? client.NextText(words[2]) : client.Next(words[2]).ToString() };
            case "cure":
                try { return new[] { client.Next(words[2]).ToString() }; }
                catch (Firn.FirnException error)
                {
                    return new[] { error.Cure, error.CureName, error.Value, error.Limit }
                        .Select(part => Uri.EscapeDataString(part ?? ""));
                }
            case "many": return Array.ConvertAll(client.Many(words[2], Count(words[3])), id => id.ToString());
            case "at":
                if (!char.IsDigit(words[3][0])) throw new Firn.RequestException("no DateTimeOffset"); // the type refuses it
                return Array.ConvertAll(client.At(words[2], Time(words[3]), Count(words[4])), id => id.ToString());
            case "kind":
                try { client.Next(words[2]); return new[] { "integer" }; }
                catch (Firn.RequestException) { client.NextText(words[2]); return new[] { "text" }; }
            case "ids":
                string key = string.Join(" ", words.Skip(1).Take(3));
                if (!kept.ContainsKey(key)) kept[key] = client.Ids(words[2], TimeSpan.FromMilliseconds(int.Parse(words[3])));
                var taken = new List<string>();
                for (int i = 0; i < int.Parse(words[4]); i++)
                {
                    if (i > 0) Thread.Sleep(int.Parse(words[5]));
                    taken.Add(kept[key].Next().ToString());
                }
                return taken;
            case "show": var shown = client.Show(words[2]); return new[] { shown["scheme"], shown["time"] };
            case "range":
                var range = client.Range(words[2], Time(words[3]), Time(words[4]));
                return new[] { range.Least.ToString(), range.Greatest.ToString() };
            case "convert": return new[] { client.Convert(words[2], words[3]) };
            case "guess": return client.Guess(words[2]);
            case "integer": return new[] { client.Integer(words[2]).ToString() };
            case "integers":
                var (first, last, step) = client.Integers(words[2], long.Parse(words[3]));
                return new[] { $"{first}", $"{last}", $"{step}" };
            case "crowd":
                var shared = client.Ids(words[2], TimeSpan.FromHours(1));
                var all = new ConcurrentBag<string>();
                var threads = Enumerable.Range(0, 8).Select(_ => new Thread(() =>
                {
                    for (int i = 0; i < 100; i++) all.Add(shared.Next().ToString());
                    for (int i = 0; i < 20; i++) all.Add(client.Next(words[2]).ToString());
                })).ToList();
                threads.ForEach(thread => thread.Start());
                threads.ForEach(thread => thread.Join());
                return all;
            case "interrupt":
                try
                {
                    var limit = new CancellationTokenSource(int.Parse(words[3]));
                    return new[] { client.NextAsync(words[2], null, limit.Token).GetAwaiter().GetResult().ToString() };
                }
                catch (OperationCanceledException) { return new[] { "interrupted" }; }
            case "spend":
                var block = client.Ids(words[2], TimeSpan.FromHours(1));
                int n = int.Parse(words[3]);
                var clock = Stopwatch.StartNew();
                for (int i = 0; i < n; i++) client.Next(words[2]);
                double next = clock.Elapsed.TotalMilliseconds * 1e6 / n;
                clock.Restart();
                for (int i = 0; i < n * 100; i++) block.Next();
                return new[] { next, clock.Elapsed.TotalMilliseconds * 1e4 / n }.Select(ns => ((long)ns).ToString());
            case "print": return new[] { client.ToString().Replace(' ', '_') };
            default: throw new ArgumentException(words[0]);
        }
    }

    static Firn.Client Open(IEnumerable<string> words)
    {
        var given = words.Select(word => word.Split(new[] { '=' }, 2)).ToDictionary(pair => pair[0], pair => pair[1]);
        var options = new Firn.Options();
        if (given.ContainsKey("timeout")) options.Timeout = TimeSpan.FromMilliseconds(int.Parse(given["timeout"]));
        if (given.ContainsKey("max_wait")) options.MaxWait = TimeSpan.FromMilliseconds(int.Parse(given["max_wait"]));
        if (given.ContainsKey("block")) options.Block = int.Parse(given["block"]);
        if (given.ContainsKey("token")) options.Token = given["token"];
        if (given.ContainsKey("ca"))
        {
            var authority = new X509Certificate2(given["ca"]);
            options.Handler = new HttpClientHandler
            {
                ServerCertificateCustomValidationCallback = (request, certificate, chain, errors) =>
                    certificate.Issuer == authority.Subject
            };
        }
        return new Firn.Client(given["addresses"].Split(','), options);
    }
}
