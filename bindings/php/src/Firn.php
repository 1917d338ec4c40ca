<?php
// SPDX-License-Identifier: MIT
declare(strict_types=1);

/**
 * Unique IDs from firn serve, over HTTP, with the extension curl. PHP 8.1 or later, 64 bits. (phpredis cannot bound the
 * time of a reply that stalls half-way.)
 *
 *     $firn = new Firn\Client(['http://ids1:7380', 'http://ids2:7380']);
 *     $firn->next('snowflake');            // one ID: strict order, fresh time
 *     $firn->many('uuid7', 3);             // an array of three
 *     $ids = $firn->ids('snowflake');      // from blocks, at most 1 ms old
 *     $ids->next();
 *
 * After a fork the child takes a new block and a new connection, so no ID is issued twice. 64-bit IDs are int, those
 * above PHP_INT_MAX strings of digits; others, such as UUIDs, are strings.
 */

namespace Firn;

/** Every error of this file. $reason: the name of the server's error ("USAGE", "STORE", ...), or its HTTP status. */
class Error extends \RuntimeException
{
    /** The cure, a part of the message; its name in firn.h; the wrong value; its limit. '': the error has none. */
    public readonly string $cure, $cureName, $value, $limit;

    /** @param array<string, mixed> $problem the reply of the server */
    public function __construct(string $text, public readonly string $reason = '', array $problem = [])
    {
        parent::__construct($text);
        $part = fn (string $name) => is_string($problem[$name] ?? null) ? $problem[$name] : '';
        $this->cure = $part('cure');
        $this->cureName = $part('cure_name');
        $this->value = $part('value');
        $this->limit = $part('limit');
    }
}

/** Servers answered that they cannot issue now, for longer than max_wait. Try again later. */
final class OverloadError extends Error
{
}

/** No server answered within max_wait. */
final class UnreachableError extends Error
{
}

/** The request is wrong: an unknown scheme, a count out of range, a wrong token, the end of a segment. Never retried. */
final class RequestError extends Error
{
}

/**
 * A client of one or several servers that share a store. It asks the first one that answers, and stays with it until
 * it fails.
 */
final class Client
{
    private const MOST_TEXT = 8 << 20; // bytes of a reply

    /** @var list<string> */
    private array $addresses;
    private int $current = 0;
    private ?\CurlHandle $curl = null;
    private int $pid = 0;
    /** @var list<?\CurlHandle> the connection of the process before a fork */
    private array $parents = [];
    /** @var array<string, array{string, bool}> the form to ask for, and whether that is an int */
    private array $outputs = [];

    /**
     * @param string|list<string> $addresses http://host:7380, https://host:7380 or unix:///run/firn.sock
     * @param array<int, mixed> $curlOptions options of curl, such as [CURLOPT_CAINFO => 'ca.pem']
     * @param float $connectTimeout seconds for a connection
     * @param float $timeout seconds for a reply; more than the server's wait_ms
     * @param float $maxWait seconds of retries. A call ends within maxWait + connectTimeout + timeout
     * @param int $block the greatest number of IDs that an iterator keeps
     */
    public function __construct(
        string|array $addresses = 'http://127.0.0.1:7380',
        #[\SensitiveParameter] private readonly ?string $token = null,
        private readonly array $curlOptions = [],
        private readonly float $connectTimeout = 1,
        private readonly float $timeout = 2.5,
        private readonly float $maxWait = 5,
        private readonly int $block = 256,
    ) {
        $this->addresses = array_values((array) $addresses);
        if (!$this->addresses) {
            throw new \InvalidArgumentException('there are no addresses: give at least one');
        }
        if ($token !== null && !preg_match('/^[!-~]+$/D', $token)) {
            throw new \InvalidArgumentException('the token has a character that is not printable ASCII, such as a line end: remove it');
        }
    }

    /**
     * Returns one ID.
     *
     * @param array<string, mixed> $fields 'as' => a text form, or fields of the scheme, such as 'prefix' => 'user'
     */
    public function next(string $name, array $fields = []): int|string
    {
        return $this->many($name, 1, $fields)[0];
    }

    /**
     * $n IDs (1 to 65536), in order.
     *
     * @return list<int|string>
     */
    public function many(string $name, int $n, array $fields = []): array
    {
        [$form, $integers] = isset($fields['as']) ? [(string) $fields['as'], false] : $this->output($name);
        unset($fields['as']);
        $query = array_map(self::text(...), $fields) + ['n' => (string) $n] + ($form === '' ? [] : ['as' => $form]);
        return $this->call('POST', ['new', $name], $query, fn ($text) => self::idsOf($text, $n, $integers));
    }

    /**
     * $n IDs of a past time: a DateTimeInterface, or text such as '2024-02-29T12:00:00Z'.
     *
     * @return list<int|string>
     */
    public function at(string $name, \DateTimeInterface|string $time, int $n = 1, array $fields = []): array
    {
        return $this->many($name, $n, $fields + ['time' => $time]);
    }

    /** An iterator without end that takes IDs from blocks: an ID is at most $maxAge seconds old. */
    public function ids(string $name, float $maxAge = 0.001, array $fields = []): Ids
    {
        return new Ids($this, $name, $maxAge, $this->block, $fields);
    }

    /**
     * The fields of an ID: 'scheme', 'time', 'unix_ns', 'fields', 'candidates' ...
     *
     * @return array<string, mixed>
     */
    public function show(int|string $id, ?string $scheme = null): array
    {
        $query = $scheme === null ? [] : ['scheme' => $scheme];
        return $this->call('GET', ['show', (string) $id], $query + ['format' => 'json'], function (string $text) {
            $shown = json_decode($text, true);
            return is_array($shown) && isset($shown['id']) ? $shown : null;
        });
    }

    /**
     * The schemes that an ID may be of, the likeliest first.
     *
     * @return list<string>
     */
    public function guess(int|string $id): array
    {
        return $this->show($id)['candidates'] ?? [];
    }

    /**
     * The least and the greatest ID of a time span; $to is not included.
     *
     * @return array{int|string, int|string}
     */
    public function range(string $scheme, \DateTimeInterface|string $from, \DateTimeInterface|string $to): array
    {
        [, $integers] = $this->output($scheme);
        return $this->call(
            'GET',
            ['range', $scheme],
            ['from' => self::text($from), 'to' => self::text($to)],
            fn ($text) => self::idsOf($text, 2, $integers),
        );
    }

    /** An ID in another form or scheme. */
    public function convert(int|string $id, string $form): string
    {
        return $this->call('GET', ['convert', (string) $id], ['to' => $form], fn ($text) => self::idsOf($text, 1, false))[0];
    }

    /** The next integer of a segment. */
    public function integer(string $key): int
    {
        return $this->call('POST', ['segments', $key], ['n' => '1'], fn ($text) => self::idsOf($text, 1, true))[0];
    }

    /**
     * Reserves $n integers of a segment: the first, the last, and the step from one to the next.
     *
     * @return array{int, int, int} as arguments of range()
     */
    public function integers(string $key, int $n): array
    {
        return $this->call('POST', ['block', $key], ['n' => (string) $n], function (string $text) {
            if (!preg_match('/^([0-9]{1,19}) ([0-9]{1,19}) ([0-9]{1,19})\n$/D', $text, $found)) {
                return null;
            }
            [, $first, $increment, $count] = array_map(intval(...), $found);
            return [$first, $first + ($count - 1) * $increment, $increment];
        });
    }

    /** Closes the connection. The client can be used again. */
    public function close(): void
    {
        $this->curl = null;
    }

    /** @return array<string, mixed> without the token, for var_dump() */
    public function __debugInfo(): array
    {
        return ['addresses' => array_map(self::withoutToken(...), $this->addresses)];
    }

    public function __serialize(): array
    {
        throw new \LogicException('a client cannot be serialized: make one where it is needed');
    }

    /**
     * The form to ask for, and whether that is an int. Asked of a server once per name.
     *
     * @return array{string, bool}
     */
    private function output(string $name): array
    {
        if (!isset($this->outputs[$name])) {
            [$form, $bits] = $this->call('GET', ['schemes', $name], [], fn ($text) => preg_match('/^form (.+)$/m', $text, $form)
                && preg_match('/^bits ([0-9]+)$/m', $text, $bits) ? [$form[1], (int) $bits[1]] : null);
            $this->outputs[$name] = [$form, in_array($form, ['dec', 'unsigned'], true) && $bits <= 64];
        }
        return $this->outputs[$name];
    }

    /** @return list<int|string>|null the lines of a reply, which must be $n IDs */
    private static function idsOf(string $text, int $n, bool $integers): ?array
    {
        $ids = explode("\n", $text);
        if (array_pop($ids) !== '' || count($ids) !== $n) {
            return null;
        }
        foreach ($ids as &$id) {
            if (!preg_match($integers ? '/^-?[0-9]{1,20}$/D' : '/^[!-~]+$/D', $id)) {
                return null;
            }
            if ($integers && (string) (int) $id === $id) { // else it is above PHP_INT_MAX
                $id = (int) $id;
            }
        }
        return $ids;
    }

    private static function text(mixed $value): string
    {
        if ($value instanceof \DateTimeInterface) {
            return $value->format('Y-m-d\TH:i:s.uP');
        }
        return (string) $value;
    }

    /**
     * Sends a request to one server after the other until one replies. $read checks the reply; null: it is malformed.
     * Sending it again issues nothing twice: IDs that got lost are skipped.
     *
     * @param array{string, string} $path
     * @param array<string, string> $query
     */
    private function call(string $method, array $path, array $query, callable $read): mixed
    {
        $target = '/v1/' . implode('/', array_map(rawurlencode(...), $path)) . '?' . http_build_query($query + ['format' => 'text']);
        $deadline = self::now() + $this->maxWait;
        $pause = 0.0;
        $busy = null;
        $failures = [];
        for ($attempt = 1; $attempt === 1 || self::now() + $pause <= $deadline; $attempt++) {
            $address = $this->addresses[$this->current];
            [$status, $text] = $this->ask($address, $method, $target);
            $result = $status === 200 ? $read($text) : null;
            if ($result !== null) {
                return $result;
            }
            $problem = json_decode($text, true);
            $problem = is_array($problem) ? $problem : [];
            $detail = is_string($problem['detail'] ?? null) ? $problem['detail'] : null;
            $code = is_string($problem['code'] ?? null) ? $problem['code'] : (string) $status;
            if ($status >= 400 && $status < 500 && $status !== 429 && $detail !== null) {
                throw new RequestError($detail, $code, $problem);
            } elseif (in_array($status, [429, 503], true)) {
                $busy = [$detail ?? "HTTP status $status", $code, $problem];
            } else {
                $failures[$address] = match ($status) { 0 => $text, 200 => 'malformed reply', default => "HTTP status $status" };
                $this->close();
            }
            $this->current = ($this->current + 1) % count($this->addresses);
            if ($attempt % count($this->addresses) === 0) { // a pause after each round
                usleep((int) ($pause * mt_rand(500000, 1000000)));
                $pause = $pause === 0.0 ? 0.01 : min($pause * 2, 0.5);
            }
        }
        if ($busy) {
            throw new OverloadError("the servers are overloaded ($busy[0]): try again later", $busy[1], $busy[2]);
        }
        foreach ($failures as $address => $why) {
            $told[] = self::withoutToken($address) . ": $why";
        }
        throw new UnreachableError('no server answered (' . implode('; ', $told) . '): start firn serve there, or correct the addresses');
    }

    /**
     * Sends a request, on the open connection if there is one.
     *
     * @return array{int, string} status and body; status 0: no reply, and why
     */
    private function ask(#[\SensitiveParameter] string $address, string $method, string $target): array
    {
        if ($this->pid !== getmypid()) {
            $this->parents[] = $this->curl; // kept: closing a TLS connection here would end the parent's
            $this->curl = null;
            $this->pid = getmypid();
        }
        $this->curl ??= curl_init();
        $text = '';
        $unix = str_starts_with($address, 'unix:');
        curl_setopt_array($this->curl, [
            CURLOPT_URL => ($unix ? 'http://localhost' : rtrim($address, '/')) . $target,
            CURLOPT_UNIX_SOCKET_PATH => $unix ? preg_replace('~^unix:(//)?~', '', $address) : null,
            CURLOPT_PATH_AS_IS => true,
            CURLOPT_CUSTOMREQUEST => $method,
            CURLOPT_HTTPHEADER => [$this->token === null ? 'Authorization:' : "Authorization: Bearer $this->token"],
            CURLOPT_CONNECTTIMEOUT_MS => (int) ($this->connectTimeout * 1000),
            CURLOPT_TIMEOUT_MS => (int) (($this->connectTimeout + $this->timeout) * 1000),
            CURLOPT_NOSIGNAL => true,
            CURLOPT_WRITEFUNCTION => function ($curl, string $piece) use (&$text): int {
                $text .= $piece;
                return strlen($text) > self::MOST_TEXT ? -1 : strlen($piece);
            },
            CURLOPT_HTTP_VERSION => CURL_HTTP_VERSION_1_1,
            CURLOPT_PROTOCOLS => CURLPROTO_HTTP | CURLPROTO_HTTPS,
        ] + $this->curlOptions);
        $done = curl_exec($this->curl);
        return $done ? [curl_getinfo($this->curl, CURLINFO_RESPONSE_CODE), $text] : [0, curl_error($this->curl)];
    }

    private static function withoutToken(string $address): string
    {
        return preg_replace('~//.*@~', '//', $address);
    }

    private static function now(): float
    {
        return hrtime(true) / 1e9;
    }
}

/** An iterator of Client::ids(), without end. */
final class Ids implements \IteratorAggregate
{
    /** @var list<int|string> */
    private array $block = [];
    private int $taken = 0;
    private float $until = 0;
    private int $pid = 0;

    /** @internal made by Client::ids() */
    public function __construct(
        private readonly Client $client,
        private readonly string $name,
        private readonly float $maxAge,
        private readonly int $most,
        private readonly array $fields,
    ) {
    }

    public function __clone()
    {
        $this->block = []; // a copy of the block would issue its IDs again
    }

    public function __serialize(): array
    {
        throw new \LogicException('an iterator cannot be serialized: make one where it is needed');
    }

    /** The next ID, from the block if it is fresh. */
    public function next(): int|string
    {
        if ($this->taken >= count($this->block) || hrtime(true) / 1e9 > $this->until || $this->pid !== getmypid()) {
            $this->refill();
        }
        return $this->block[$this->taken++];
    }

    /** @return \Generator<int, int|string> */
    public function getIterator(): \Generator
    {
        while (true) {
            yield $this->next();
        }
    }

    /** A new block is as large as the used part of the last one, or twice as large if all of it was used. */
    private function refill(): void
    {
        $size = $this->taken < count($this->block) ? max($this->taken, 1) : max(count($this->block) * 2, 1);
        $asked = hrtime(true) / 1e9; // an ID is issued after this
        $this->block = $this->client->many($this->name, min($size, $this->most), $this->fields);
        $this->until = $asked + $this->maxAge;
        $this->taken = 0;
        $this->pid = getmypid();
    }
}
