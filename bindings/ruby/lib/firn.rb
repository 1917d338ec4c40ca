# SPDX-License-Identifier: MIT
# frozen_string_literal: true

require "openssl"
require "redis"
require "timeout"

# Unique IDs from firn serve, over the Redis protocol, with the gem redis (4.8 or later).
#
#     FIRN = Firn::Client.new(["redis://ids1:7379", "redis://ids2:7379"])
#     FIRN.next("snowflake")                  # one ID: strict order, fresh time
#     FIRN.many("uuid7", 3)                   # an array of three
#     ids = FIRN.ids("snowflake")             # from blocks, at most 1 ms old
#     ids.next
#
# Any thread may use a client, and an iterator. After a fork the child takes a new block and new connections, so no ID
# is issued twice. 64-bit IDs are Integers; others, such as UUIDs, are Strings.
module Firn
  VERSION = "0.1.0"

  # Every error of this file. `code` is the first word of the server's error ("ERR", "TRYAGAIN", ...), or nil.
  class Error < StandardError
    attr_reader :code

    def initialize(text, code = nil)
      super(text)
      @code = code
    end
  end

  # Servers answered that they cannot issue now, for longer than max_wait. Try again later.
  class OverloadError < Error; end

  # No server answered within max_wait.
  class UnreachableError < Error; end

  # The request is wrong: an unknown scheme, a count out of range, a wrong token, the end of a segment. Never retried.
  class RequestError < Error; end

  # The first words of errors that say "not now". Redis proxies add the last two.
  OVERLOAD = %w[TRYAGAIN OOM LOADING BUSY].freeze

  # A client of one or several servers that share a store. It asks the first one that answers, and stays with it until
  # it fails.
  class Client
    # addresses: URLs such as redis://host:7379, rediss://host:7379 (TLS) or unix:///run/firn.sock.
    # token: authenticates. ssl_params: as in OpenSSL::SSL::SSLContext#set_params, such as { ca_file: "ca.pem" }.
    # connect_timeout, timeout: seconds for a connection, and for a reply (more than the server's wait).
    # max_wait: seconds of retries. A call ends within max_wait + connect_timeout + timeout.
    # block: the greatest number of IDs that an iterator keeps.
    def initialize(addresses = "redis://127.0.0.1:7379", token: nil, ssl_params: nil, connect_timeout: 1, timeout: 2.5,
                   max_wait: 5, block: 256)
      @addresses = Array(addresses).freeze
      raise ArgumentError, "there are no addresses: give at least one" if @addresses.empty?

      @options = { password: token, connect_timeout: connect_timeout, read_timeout: timeout, write_timeout: timeout,
                   reconnect_attempts: 0 }
      @limit = connect_timeout + timeout # the gem's are for each piece of a reply
      @options[:ssl_params] = ssl_params if ssl_params
      @max_wait = max_wait
      @block = block
      @current = 0
      @outputs = {}
      @mutex = Mutex.new
      forget
    end

    # Returns one ID. `as` is a text form; other fields belong to the scheme, such as prefix: "user".
    def next(name, as: nil, **fields)
      many(name, 1, as: as, **fields).first
    end

    # n IDs (1 to 65536), in order.
    def many(name, n, as: nil, **fields)
      form, integers = as ? [as, false] : output(name)
      words = fields.flat_map { |key, value| [key.to_s, text(value)] }
      call("FIRN.NEW", name.to_s, *words, "COUNT", n.to_s, "AS", form) { |reply| ids_of(reply, n, integers) }
    end

    # n IDs of a past time: a Time, or text such as "2024-02-29T12:00:00Z".
    def at(name, time, n = 1, **fields)
      many(name, n, TIME: time, **fields)
    end

    # An endless iterator that takes IDs from blocks: an ID is at most max_age seconds old.
    def ids(name, max_age: 0.001, **fields)
      Ids.new(self, name, max_age, @block, fields)
    end

    # The fields of an ID: "scheme", "time", "unix_ns", "fields", "candidates" ...
    def show(id, scheme: nil)
      reply = call("FIRN.SHOW", id.to_s, *(scheme ? ["SCHEME", scheme] : [])) { |it| it if it.is_a?(Array) }
      shown = reply.each_slice(2).to_h
      shown["fields"] = shown["fields"].each_slice(2).to_h if shown["fields"].is_a?(Array)
      shown
    end

    # The schemes that an ID may be of, the likeliest first.
    def guess(id)
      show(id).fetch("candidates", [])
    end

    # The least and the greatest ID of a time span; `to` is not included.
    def range(scheme, from, to)
      _, integers = output(scheme)
      reply = call("FIRN.RANGE", scheme.to_s, text(from), text(to)) { |it| it if it.is_a?(Array) && it.size == 4 }
      reply.each_slice(2).to_h.values_at("least", "greatest").map { |id| integers ? Integer(id, 10) : id }
    end

    # An ID in another form or scheme, as text.
    def convert(id, form)
      call("FIRN.CONVERT", id.to_s, form.to_s) { |reply| reply if reply.is_a?(String) }
    end

    # The next integer of a segment.
    def integer(key)
      call("INCR", key.to_s) { |reply| reply if reply.is_a?(Integer) }
    end

    # n integers of a segment, as an enumerator that can tell `first` and `size`.
    def integers(key, n)
      call("FIRN.BLOCK", key.to_s, "COUNT", n.to_s) do |reply|
        next unless reply.is_a?(Array) && reply.size == 4 && reply.all?(Integer)

        (reply[0]..reply[1]).step(reply[2])
      end
    end

    # Closes the idle connections. The client can be used again.
    def close
      @mutex.synchronize { @idle.each { |_, redis| redis.close } && forget }
    end

    def inspect
      "#<#{self.class} #{@addresses.map { |address| without_token(address) }.join(' ')}>"
    end
    alias to_s inspect

    private

    # The result of next and many: the form to ask for, and whether that is an Integer. Asked of a server once per name.
    def output(name)
      @outputs[name] ||= begin
        raise RequestError, "the name is empty: give the name of a scheme or generator" if name.to_s.empty?

        shape = call("FIRN.SCHEMES", name.to_s) { |reply| reply.each_slice(2).to_h if reply.is_a?(Array) && reply.size.even? }
        [shape["form"], %w[dec unsigned].include?(shape["form"]) && shape["bits"].to_i <= 64]
      end
    end

    def ids_of(reply, n, integers)
      return unless reply.is_a?(Array) && reply.size == n && reply.all? { |id| id.is_a?(String) && id.b.match?(/\A[!-~]+\z/) }
      return reply unless integers

      reply.map { |id| id.match?(/\A-?[0-9]{1,20}\z/) ? Integer(id, 10) : (return nil) }
    end

    def text(value)
      value = value.getutc.strftime("%Y-%m-%dT%H:%M:%S.%NZ") if value.respond_to?(:getutc)
      value.to_s
    end

    # Sends a command to one server after the other until one replies; the block checks the reply, nil: it is malformed.
    # Sending it again issues nothing twice: IDs that got lost are skipped.
    def call(*command)
      deadline = now + @max_wait
      pause = 0
      busy = nil
      failures = {}
      (0..).each do |attempt|
        here = @current
        begin
          reply = yield ask(@addresses[here], command)
          return reply unless reply.nil?

          failures[here] = "malformed reply"
          forget
        rescue URI::InvalidURIError
          raise ArgumentError, "the address #{without_token(@addresses[here])} is not valid: use redis://HOST:PORT", cause: nil
        rescue ::Redis::CommandError => e
          code = readable(e.message)[/\A\S*/]
          # The server closes a connection beyond max_connections with this sentence, as Redis does.
          full = e.message.include?("max number of clients")
          raise RequestError.new(without(code, e.message), code), cause: nil unless full || OVERLOAD.include?(code)

          busy = [without(code, e.message), code]
        rescue ::Redis::BaseError, SystemCallError, IOError, SocketError, OpenSSL::SSL::SSLError, Timeout::Error, SystemStackError => e
          failures[here] = e.is_a?(Timeout::Error) ? "no reply within #{@limit} s" : readable(e.message)
          forget
        end
        @current = (here + 1) % @addresses.size if @current == here
        if (attempt + 1) % @addresses.size == 0 # a pause after each round
          sleep(pause * rand(0.5..1))
          pause = pause == 0 ? 0.01 : [pause * 2, 0.5].min
        end
        break if now + pause > deadline
      end
      raise OverloadError.new("the servers are overloaded (#{busy[0]}): try again later", busy[1]) if busy

      reasons = failures.map { |i, why| "#{without_token(@addresses[i])}: #{why}" }.join("; ")
      raise UnreachableError, "no server answered (#{reasons}): start firn serve there, or correct the addresses"
    end

    # Sends a command on an idle or new connection, which stays open only if a whole reply was read.
    def ask(address, command)
      kept, redis = @mutex.synchronize do
        forget unless @pid == Process.pid # a connection of the parent is the parent's
        @idle.pop
      end
      redis = nil unless kept == address
      redis ||= ::Redis.new(**@options, **(address.start_with?("unix:") ? { path: address.sub(%r{\Aunix:(//)?}, "") } : { url: address }))
      read = false
      reply = begin
        Timeout.timeout(@limit) { redis.call(*command).tap { read = true } }
      rescue ::Redis::CommandError => e
        read = !e.message.start_with?("NOAUTH") # its token was removed: the next connection sends it again
        raise
      ensure
        read ? @mutex.synchronize { @idle.push([address, redis]) } : redis.close
      end
      reply
    end

    # Not closed: a TLS connection that a child closes ends the parent's too. Ruby frees them.
    def forget
      @idle = []
      @pid = Process.pid
    end

    def readable(text)
      text.dup.force_encoding(Encoding::UTF_8).scrub("?")
    end

    def without(code, text)
      readable(text).delete_prefix(code).strip
    end

    def without_token(address)
      address.sub(%r{//.*@}, "//")
    end

    def now
      Process.clock_gettime(Process::CLOCK_MONOTONIC)
    end
  end

  # An endless iterator of Client#ids.
  class Ids
    include Enumerable

    def initialize(client, name, max_age, most, fields)
      @client, @name, @max_age, @most, @fields = client, name, max_age, most, fields
      @mutex = Mutex.new
      @block = []
      @taken = @until = 0
      @pid = Process.pid
    end

    # A copy (dup, clone) with the same block would issue its IDs again.
    def initialize_copy(_other)
      super
      @mutex = Mutex.new
      @block = []
      @taken = @until = 0
    end

    # The next ID, from the block if it is fresh.
    def next
      @mutex.synchronize do
        refill unless @taken < @block.size && now <= @until && @pid == Process.pid
        @taken += 1
        @block[@taken - 1]
      end
    end

    def each
      return to_enum(:each) { Float::INFINITY } unless block_given?

      loop { yield self.next }
    end

    private

    # A new block is as large as the used part of the last one, or twice as large if all of it was used.
    def refill
      size = @taken < @block.size ? [@taken, 1].max : [@block.size * 2, 1].max
      asked = now # an ID is issued after this
      @block = @client.many(@name, [size, @most].min, **@fields)
      @until = asked + @max_age
      @taken = 0
      @pid = Process.pid
    end

    def now
      Process.clock_gettime(Process::CLOCK_MONOTONIC)
    end
  end
end
