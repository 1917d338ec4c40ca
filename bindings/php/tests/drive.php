<?php
// SPDX-License-Identifier: MIT
// The driver of the PHP client: see test/clients/clients.py.
require __DIR__ . '/../src/Firn.php';

$clients = $kept = [];
$take = function (array $key, int $n, int $pause) use (&$clients, &$kept): array {
    $ids = $kept[implode(' ', $key)] ??= $clients[$key[0]]->ids($key[1], $key[2] / 1000);
    $taken = [];
    for ($i = 0; $i < $n; $i++) {
        usleep($i ? $pause * 1000 : 0);
        $taken[] = $ids->next();
    }
    return $taken;
};
while (($line = fgets(STDIN)) !== false) {
    [$verb, $name, $a, $b, $c, $d] = array_map(rawurldecode(...), explode(' ', rtrim($line, "\n"))) + array_fill(0, 6, '');
    $client = $clients[$name] ?? null;
    try {
        $said = match ($verb) {
            'open' => (function () use ($line, $name, &$clients) {
                foreach (array_slice(explode(' ', rtrim($line, "\n")), 2) as $word) {
                    [$key, $value] = explode('=', rawurldecode($word), 2);
                    $given[$key] = $value;
                }
                $options = ['addresses' => explode(',', $given['addresses'])];
                foreach (['connect_timeout' => 'connectTimeout', 'timeout' => 'timeout', 'max_wait' => 'maxWait'] as $key => $option) {
                    isset($given[$key]) && $options[$option] = $given[$key] / 1000;
                }
                isset($given['block']) && $options['block'] = (int) $given['block'];
                isset($given['token']) && $options['token'] = $given['token'];
                isset($given['ca']) && $options['curlOptions'] = [CURLOPT_CAINFO => $given['ca']];
                $clients[$name] = new Firn\Client(...$options);
                return [];
            })(),
            'next' => [$client->next($a)],
            'many' => $client->many($a, (int) $b),
            'at' => $client->at($a, $b, (int) $c),
            'kind' => [is_int($client->next($a)) ? 'integer' : 'text'],
            'cure' => (function () use ($client, $a) {
                try {
                    return [$client->next($a)];
                } catch (Firn\Error $error) {
                    return array_map(rawurlencode(...), [$error->cure, $error->cureName, $error->value, $error->limit]);
                }
            })(),
            'ids' => $take([$name, $a, $b], (int) $c, (int) $d),
            'fork' => (function () use ($name, $a, $b, $take, $kept) {
                foreach ($kept as $key => $_) {
                    str_starts_with($key, "$name $a ") && $chosen = explode(' ', $key);
                }
                $pair = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
                $child = pcntl_fork();
                if ($child === 0) {
                    fwrite($pair[1], implode(' ', $take($chosen, (int) $b, 0)));
                    posix_kill(getmypid(), SIGKILL);
                }
                fclose($pair[1]);
                $ids = explode(' ', stream_get_contents($pair[0]));
                pcntl_waitpid($child, $status);
                return [...$ids, ...$take($chosen, (int) $b, 0)];
            })(),
            'copy' => (function () use ($name, $a, $b, $take, &$kept) {
                foreach ($kept as $key => $ids) {
                    str_starts_with($key, "$name $a ") && $copy = clone $kept[$chosen = $key];
                }
                $kept["copy $chosen"] = $copy;
                return array_merge(...array_map(fn ($each) => array_map(fn () => $each->next(), range(1, (int) $b)), [$copy, $kept[$chosen]]));
            })(),
            'show' => [($shown = $client->show($a))['scheme'], $shown['time']],
            'range' => $client->range($a, $b, $c),
            'convert' => [$client->convert($a, $b)],
            'guess' => $client->guess($a),
            'integer' => [$client->integer($a)],
            'integers' => $client->integers($a, (int) $b),
            'spend' => (function () use ($client, $a, $b) {
                $ids = $client->ids($a, 3600);
                foreach ([[fn () => $client->next($a), (int) $b], [$ids->next(...), $b * 100]] as [$call, $n]) {
                    $begun = hrtime(true);
                    for ($i = 0; $i < $n; $i++) {
                        $call();
                    }
                    $spent[] = intdiv(hrtime(true) - $begun, $n);
                }
                return $spent;
            })(),
            'print' => [rawurlencode(print_r($client, true))],
        };
        echo implode(' ', ['ok', ...$said]), "\n";
    } catch (Firn\Error $error) {
        $kind = match (true) {
            $error instanceof Firn\OverloadError => 'overload',
            $error instanceof Firn\UnreachableError => 'unreachable',
            $error instanceof Firn\RequestError => 'request',
        };
        echo "error $kind ", $error->reason ?: '-', ' ', preg_replace('/\s+/', ' ', $error->getMessage()), "\n";
    }
}
