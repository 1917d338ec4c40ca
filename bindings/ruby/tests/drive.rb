# SPDX-License-Identifier: MIT
# The driver of the Ruby client: see test/clients/clients.py.
require_relative "../lib/firn"
require "timeout"
require "uri"

clients = {}
kept = {}
take = lambda do |words, n, pause|
  ids = kept[words] ||= clients[words[0]].ids(words[1], max_age: words[2].to_i / 1000.0)
  Array.new(n) { |i| sleep(pause) if i > 0; ids.next }
end
$stdout.sync = true
STDIN.each_line do |line|
  verb, name, *words = line.chomp.split(" ", -1).map { |word| URI.decode_www_form_component(word) }
  client = clients[name]
  said = case verb
         when "open"
           given = words.to_h { |word| word.split("=", 2) }
           options = %w[connect_timeout timeout max_wait].select { |key| given[key] }.to_h { |key| [key.to_sym, given[key].to_i / 1000.0] }
           options[:block] = given["block"].to_i if given["block"]
           options[:token] = given["token"] if given["token"]
           options[:ssl_params] = { ca_file: given["ca"] } if given["ca"]
           clients[name] = Firn::Client.new(given["addresses"].split(","), **options)
           []
         when "next" then [client.next(words[0])]
         when "many" then client.many(words[0], words[1].to_i)
         when "at" then client.at(words[0], words[1], words[2].to_i)
         when "kind" then [client.next(words[0]).is_a?(Integer) ? "integer" : "text"]
         when "ids" then take.call([name, words[0], words[1]], words[2].to_i, words[3].to_i / 1000.0)
         when "fork"
           key = kept.keys.find { |it| it[0, 2] == [name, words[0]] }
           reader, writer = IO.pipe
           child = Process.fork do
             writer.write(take.call(key, words[1].to_i, 0).join(" "))
             exit!(0)
           end
           writer.close
           ids = reader.read.split
           Process.wait(child)
           ids + take.call(key, words[1].to_i, 0)
         when "copy"
           key = kept.keys.find { |it| it[0, 2] == [name, words[0]] }
           kept[[*key, "copy"]] = kept[key].dup
           take.call([*key, "copy"], words[1].to_i, 0) + take.call(key, words[1].to_i, 0)
         when "show" then client.show(words[0]).values_at("scheme", "time")
         when "range" then client.range(*words)
         when "convert" then [client.convert(*words)]
         when "guess" then client.guess(words[0])
         when "integer" then [client.integer(words[0])]
         when "integers" then client.integers(words[0], words[1].to_i).then { |it| [it.first, it.to_a.last, it.step] }
         when "crowd"
           ids = client.ids(words[0], max_age: 3600)
           Array.new(8) { Thread.new { Array.new(100) { ids.next } + Array.new(20) { client.next(words[0]) } } }.flat_map(&:value)
         when "interrupt"
           begin
             Timeout.timeout(words[1].to_i / 1000.0) { [client.next(words[0])] }
           rescue Timeout::Error
             ["interrupted"]
           end
         when "spend"
           ids = client.ids(words[0], max_age: 3600)
           [-> { client.next(words[0]) }, -> { ids.next }].zip([words[1].to_i, words[1].to_i * 100]).map do |call, n|
             begun = Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond)
             n.times { call.call }
             (Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond) - begun) / n
           end
         when "print" then [client.inspect.tr(" ", "_")]
         end
  puts ["ok", *said].join(" ")
rescue Firn::Error => e
  kind = { Firn::OverloadError => "overload", Firn::UnreachableError => "unreachable", Firn::RequestError => "request" }[e.class]
  puts "error #{kind} #{e.code || '-'} #{e.message.gsub(/\s+/, ' ')}"
end
