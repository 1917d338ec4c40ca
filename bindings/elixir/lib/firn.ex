# SPDX-License-Identifier: MIT

defmodule Firn.Error do
  @moduledoc """
  An error of `Firn`. `kind` is

    * `:overload`: servers answered that they cannot issue now, for longer than `max_wait`; try again later
    * `:unreachable`: no server answered within `max_wait`
    * `:request`: the request is wrong (an unknown scheme, a count out of range, a wrong token, the end of a segment);
      it was not retried

  `code` is the first word of the server's error ("ERR", "TRYAGAIN", ...), or nil.
  """
  defexception [:kind, :code, :message]
end

defmodule Firn do
  @moduledoc """
  Unique IDs from firn serve, over the Redis protocol, with `:gen_tcp` and `:ssl`: no dependency.

      children = [{Firn, name: MyApp.Ids, addresses: ["redis://ids1:7379", "redis://ids2:7379"]}]

      {:ok, id} = Firn.next(MyApp.Ids, "snowflake")         # one ID: strict order, fresh time
      Firn.many!(MyApp.Ids, "uuid7", 3)                     # a list of three
      MyApp.Ids |> Firn.ids("snowflake") |> Enum.take(3)    # a stream, from blocks: at most 1 ms old

  A client is a process with one connection. Any process may use it. A stream keeps its block in the process that
  enumerates it. IDs of up to 64 bits are integers; others, such as UUIDs, are strings. Every function that asks a server
  returns `{:ok, result}` or `{:error, %Firn.Error{}}`; the same with `!` returns the result or raises.
  """
  use GenServer

  @type id :: integer | String.t()
  @type result(value) :: {:ok, value} | {:error, Firn.Error.t()}
  @type time :: DateTime.t() | String.t()

  # The first words of errors that say "not now". Redis proxies add the last two.
  @overload ["TRYAGAIN", "OOM", "LOADING", "BUSY"]
  @most_text 1_048_576
  @most_items 131_072

  @doc """
  Starts a client of one or several servers that share a store. It asks the first one that answers, and stays with it
  until it fails. It connects with the first request.

    * `:addresses`: `redis://host:7379`, `rediss://host:7379` (TLS) or `unix:///run/firn.sock`, or a list of them
    * `:name`: as for `GenServer.start_link/3`
    * `:token`: authenticates; a function that returns it keeps it out of reports of supervisors
    * `:ssl`: options of `:ssl`, such as `cacertfile: "ca.pem"`; certificates are verified
    * `:connect_timeout` (1000) and `:timeout` (2500): milliseconds for a connection, and for a reply (more than the
      server's `wait`)
    * `:max_wait` (5000): milliseconds of retries. A call ends within the sum of the three
    * `:block` (256): the greatest number of IDs that a stream keeps
  """
  @spec start_link(keyword) :: GenServer.on_start()
  def start_link(options) do
    {name, options} = Keyword.split(options, [:name])

    defaults = [
      addresses: "redis://127.0.0.1:7379",
      token: nil,
      ssl: [],
      connect_timeout: 1000,
      timeout: 2500,
      max_wait: 5000,
      block: 256
    ]

    options = options |> Keyword.validate!(defaults) |> Map.new()
    addresses = options.addresses |> List.wrap() |> Enum.map(&parse/1) |> List.to_tuple()
    if addresses == {}, do: raise(ArgumentError, "there are no addresses: give at least one")
    token = if is_function(options.token), do: options.token, else: fn -> options.token end
    GenServer.start_link(__MODULE__, %{options | addresses: addresses, token: token}, name)
  end

  @doc "One ID. `as:` is a text form; other fields belong to the scheme, such as `prefix: \"user\"`."
  @spec next(GenServer.server(), String.t(), keyword) :: result(id)
  def next(firn, name, fields \\ []) do
    with {:ok, [id]} <- many(firn, name, 1, fields), do: {:ok, id}
  end

  @doc "`n` IDs (1 to 65536), in order."
  @spec many(GenServer.server(), String.t(), integer, keyword) :: result([id])
  def many(firn, name, n, fields \\ []) do
    {as, fields} = Keyword.pop(fields, :as)

    with {:ok, {form, integers}} <- if(as, do: {:ok, {as, false}}, else: output(firn, name)) do
      words = Enum.flat_map(fields, fn {key, value} -> [key, text(value)] end)
      call(firn, ["FIRN.NEW", name | words] ++ ["COUNT", n, "AS", form], &ids_of(&1, n, integers))
    end
  end

  @doc "`n` IDs of a past time: a `DateTime`, or text such as \"2024-02-29T12:00:00Z\"."
  @spec at(GenServer.server(), String.t(), time, integer, keyword) :: result([id])
  def at(firn, name, time, n \\ 1, fields \\ []), do: many(firn, name, n, [TIME: time] ++ fields)

  @doc """
  An endless stream that takes IDs from blocks: an ID is at most `:max_age` milliseconds old (1). It raises `Firn.Error`.

  Enumerate it once: what is left of the block is lost when the enumeration ends.
  """
  @spec ids(GenServer.server(), String.t(), keyword) :: Enumerable.t()
  def ids(firn, name, options \\ []) do
    {max_age, fields} = Keyword.pop(options, :max_age, 1)
    max_age = System.convert_time_unit(max_age, :millisecond, :native)

    most =
      case known(firn, :options) do
        {:ok, options} -> options.block
        {:error, error} -> raise error
      end

    # {IDs, how many were taken, when the block was requested}. The count is shared by all processes that continue the stream, so
    # that a continuation that is called twice repeats no ID.
    Stream.unfold({{}, :atomics.new(1, []), 0}, fn {block, taken, asked} ->
      count = :atomics.add_get(taken, 1, 1)

      if count <= tuple_size(block) and System.monotonic_time() - asked <= max_age do
        {elem(block, count - 1), {block, taken, asked}}
      else
        # A new block is as large as the used part of the last one, or twice as large if all of it was used.
        size = if count > tuple_size(block), do: tuple_size(block) * 2, else: count - 1
        asked = System.monotonic_time()
        block = firn |> many!(name, size |> max(1) |> min(most), fields) |> List.to_tuple()
        taken = :atomics.new(1, [])
        :atomics.put(taken, 1, 1)
        {elem(block, 0), {block, taken, asked}}
      end
    end)
  end

  @doc "The fields of an ID: `\"scheme\"`, `\"time\"`, `\"unix_ns\"`, `\"fields\"`, `\"candidates\"` ..."
  @spec show(GenServer.server(), id, keyword) :: result(map)
  def show(firn, id, options \\ []) do
    words = if options[:scheme], do: ["SCHEME", options[:scheme]], else: []

    with {:ok, shown} <- call(firn, ["FIRN.SHOW", id | words], &pairs/1) do
      {:ok, Map.update(shown, "fields", %{}, &(pairs(&1) || %{}))}
    end
  end

  @doc "The schemes that an ID may be of, the likeliest first."
  @spec guess(GenServer.server(), id) :: result([String.t()])
  def guess(firn, id) do
    with {:ok, shown} <- show(firn, id), do: {:ok, Map.get(shown, "candidates", [])}
  end

  @doc "The least and the greatest ID of a time span; `to` is not included."
  @spec range(GenServer.server(), String.t(), time, time) :: result({id, id})
  def range(firn, scheme, from, to) do
    with {:ok, {_, integers}} <- output(firn, scheme),
         read = &(is_list(&1) and length(&1) == 4 and ids_of([Enum.at(&1, 1), Enum.at(&1, 3)], 2, integers)),
         {:ok, [least, greatest]} <- call(firn, ["FIRN.RANGE", scheme, text(from), text(to)], read),
         do: {:ok, {least, greatest}}
  end

  @doc "An ID in another form or scheme."
  @spec convert(GenServer.server(), id, String.t()) :: result(String.t())
  def convert(firn, id, form), do: call(firn, ["FIRN.CONVERT", id, form], &if(is_binary(&1), do: &1))

  @doc "The next integer of a segment."
  @spec integer(GenServer.server(), String.t()) :: result(integer)
  def integer(firn, key), do: call(firn, ["INCR", key], &if(is_integer(&1), do: &1))

  @doc "`n` integers of a segment, as a range."
  @spec integers(GenServer.server(), String.t(), integer) :: result(Range.t())
  def integers(firn, key, n) do
    call(firn, ["FIRN.BLOCK", key, "COUNT", n], fn
      [first, last, increment, count]
      when is_integer(first) and is_integer(last) and increment > 0 and is_integer(count) ->
        first..last//increment

      _ ->
        nil
    end)
  end

  for {name, args} <-
        [next: 2, next: 3, many: 3, many: 4, at: 3, at: 4, at: 5, show: 2, show: 3, guess: 2, range: 4] ++
          [convert: 3, integer: 2, integers: 3] do
    args = Macro.generate_arguments(args, __MODULE__)
    @doc "Like `#{name}/#{length(args)}`, but returns the result or raises `Firn.Error`."
    def unquote(:"#{name}!")(unquote_splicing(args)) do
      case unquote(name)(unquote_splicing(args)) do
        {:ok, result} -> result
        {:error, error} -> raise error
      end
    end
  end

  # ---- replies ---------------------------------------------------------------------------------------------------

  # The form to ask for, and whether that is an integer. Asked of a server once per name.
  defp output(_firn, ""),
    do: {:error, %Firn.Error{kind: :request, message: "the name is empty: give the name of a scheme or generator"}}

  defp output(firn, name) do
    with {:ok, nil} <- known(firn, {:output, name}),
         {:ok, %{"form" => form, "bits" => bits}} <- call(firn, ["FIRN.SCHEMES", name], &pairs/1) do
      output = {form, form in ["dec", "unsigned"] and String.to_integer(to_string(bits)) <= 64}
      GenServer.cast(firn, {:output, name, output})
      {:ok, output}
    else
      {:error, error} -> {:error, error}
      {:ok, {_, _}} = output -> output
      {:ok, _} -> {:error, unreachable("malformed reply")}
    end
  end

  defp ids_of(ids, n, integers) do
    shape = if integers, do: ~r/\A-?\d{1,20}\z/, else: ~r/\A.+\z/

    if is_list(ids) and length(ids) == n and Enum.all?(ids, &(is_binary(&1) and &1 =~ shape)) do
      if integers, do: Enum.map(ids, &String.to_integer/1), else: ids
    end
  end

  # A reply of names and values.
  defp pairs(reply) when is_list(reply) and reply != [] and rem(length(reply), 2) == 0 do
    reply |> Enum.chunk_every(2) |> Map.new(&List.to_tuple/1)
  end

  defp pairs(_), do: nil

  defp text(%DateTime{} = time), do: DateTime.to_iso8601(time)
  defp text(value), do: to_string(value)

  # ---- requests, in the process that calls -----------------------------------------------------------------------

  # Sends a command to one server after the other until one replies. `read` checks the reply; nil: it is malformed.
  # Sending it again issues nothing twice: IDs that got lost are skipped.
  defp call(firn, words, read) do
    with {:ok, options} <- known(firn, :options), do: attempt(firn, options, words, read, 1, now() + options.max_wait, 0, nil, %{})
  end

  # Answers from the client's own memory, without a request to a server. The client may be waiting for the reply to another
  # request.
  defp known(firn, what) do
    {:ok, GenServer.call(firn, what)}
  catch
    :exit, {:timeout, _} -> {:error, unreachable("its client is busy with other requests")}
  end

  defp attempt(firn, options, words, read, number, deadline, pause, busy, failures) do
    asked = ask(firn, options, words, deadline)

    case with({:reply, here, reply} <- asked, do: {:read, here, read.(reply)}) do
      {:read, here, wrong} when wrong in [nil, false] ->
        GenServer.cast(firn, {:leave, here})
        again(firn, options, words, read, number, deadline, pause, busy, Map.put(failures, here, "malformed reply"))

      {:read, _, result} ->
        {:ok, result}

      {:refused, here, error} ->
        [code | rest] = String.split(error, " ", parts: 2)
        # The server closes a connection beyond max_connections with this sentence, as Redis does.
        if code in @overload or error =~ "max number of clients" do
          GenServer.cast(firn, {:leave, here})
          again(firn, options, words, read, number, deadline, pause, {code, Enum.join(rest)}, failures)
        else
          # its token was removed: the next connection sends it again
          if code == "NOAUTH", do: GenServer.cast(firn, {:leave, here})
          {:error, %Firn.Error{kind: :request, code: code, message: Enum.join(rest)}}
        end

      {:failed, here, why} ->
        again(firn, options, words, read, number, deadline, pause, busy, Map.put(failures, here, why))
    end
  end

  # The connection is shared, so the wait for it counts.
  defp ask(firn, options, words, deadline) do
    GenServer.call(firn, {:ask, words, deadline}, max(deadline - now(), 0) + options.connect_timeout + options.timeout)
  catch
    :exit, {:timeout, _} -> {:failed, 0, "its client is busy with other requests"}
  end

  defp again(firn, options, words, read, number, deadline, pause, busy, failures) do
    # a pause after each round
    round? = rem(number, tuple_size(options.addresses)) == 0
    if round?, do: Process.sleep(div(pause * (50 + :rand.uniform(50)), 100))
    pause = if round?, do: (pause * 2) |> max(10) |> min(500), else: pause

    cond do
      now() + pause <= deadline ->
        attempt(firn, options, words, read, number + 1, deadline, pause, busy, failures)

      busy ->
        {code, why} = busy

        {:error,
         %Firn.Error{kind: :overload, code: code, message: "the servers are overloaded (#{why}): try again later"}}

      true ->
        {:error,
         unreachable(
           Enum.map_join(failures, "; ", fn {here, why} -> "#{elem(options.addresses, here).shown}: #{why}" end)
         )}
    end
  end

  defp unreachable(failures) do
    message = "no server answered (#{failures}): start firn serve there, or correct the addresses"
    %Firn.Error{kind: :unreachable, message: message}
  end

  defp now, do: System.monotonic_time(:millisecond)

  # ---- the process with the connection ---------------------------------------------------------------------------

  defp parse(address) do
    uri = URI.parse(address)
    shown = String.replace(address, ~r{//.*@}, "//")
    # in a function, so that no report of the state shows it
    token = fn -> uri.userinfo && uri.userinfo |> String.split(":", parts: 2) |> List.last() end

    case uri do
      %URI{scheme: "unix", path: path} when path != nil ->
        %{shown: shown, host: {:local, path}, port: 0, module: :gen_tcp, token: fn -> nil end}

      %URI{scheme: "redis", host: host} when host != nil ->
        %{shown: shown, host: ip(host), port: uri.port || 7379, module: :gen_tcp, token: token}

      %URI{scheme: "rediss", host: host} when host != nil ->
        %{shown: shown, host: ip(host), port: uri.port || 7379, module: :ssl, token: token}

      _ ->
        raise ArgumentError, "the address #{shown} is not valid: use redis://HOST:PORT"
    end
  end

  # A certificate names an address of 4 or 16 bytes otherwise than a host.
  defp ip(host) do
    case host |> to_charlist() |> :inet.parse_address() do
      {:ok, ip} -> ip
      _ -> to_charlist(host)
    end
  end

  @impl true
  def init(options) do
    {:ok, _} = Application.ensure_all_started(:ssl)
    {:ok, Map.merge(options, %{current: 0, conn: nil, outputs: %{}})}
  end

  @impl true
  def handle_call(:options, _from, state),
    do: {:reply, Map.take(state, [:addresses, :connect_timeout, :timeout, :max_wait, :block]), state}

  def handle_call({:output, name}, _from, state), do: {:reply, state.outputs[name], state}

  def handle_call({:ask, words, deadline}, _from, %{current: here} = state) do
    with {:waited, true} <- {:waited, now() <= deadline},
         {:ok, conn} <- connection(state),
         {:ok, reply} <- exchange(conn, words, state.timeout) do
      said = if match?({:error, _}, reply), do: {:refused, here, elem(reply, 1)}, else: {:reply, here, reply}
      {:reply, said, %{state | conn: conn}}
    else
      {:waited, false} -> {:reply, {:failed, here, "other requests took all the time"}, state}
      {:refused, error} -> {:reply, {:refused, here, error}, state}
      {:error, why, conn} -> {:reply, {:failed, here, reason(why)}, left(%{state | conn: conn})}
    end
  end

  @impl true
  def handle_cast({:output, name, output}, state), do: {:noreply, put_in(state.outputs[name], output)}
  def handle_cast({:leave, here}, %{current: here} = state), do: {:noreply, left(state)}
  def handle_cast({:leave, _}, state), do: {:noreply, state}

  @impl true
  def handle_info(_message, state), do: {:noreply, state}

  # Closes the connection: a late reply must not be read as the next one. The next request goes to the next server.
  defp left(state) do
    with {module, socket} <- state.conn, do: module.close(socket)
    %{state | conn: nil, current: rem(state.current + 1, tuple_size(state.addresses))}
  end

  defp connection(%{conn: nil} = state) do
    it = elem(state.addresses, state.current)
    tcp = [:binary, active: false, nodelay: it.port > 0, send_timeout: state.timeout, send_timeout_close: true]
    tcp = if is_tuple(it.host) and tuple_size(it.host) == 8, do: [:inet6 | tcp], else: tcp
    token = state.token.() || it.token.()

    with {:ok, socket} <-
           it.module.connect(
             it.host,
             it.port,
             if(it.module == :ssl, do: tcp ++ tls(state.ssl), else: tcp),
             state.connect_timeout
           ),
         conn = {it.module, socket},
         {:ok, "OK"} <- if(token, do: exchange(conn, ["AUTH", token], state.timeout), else: {:ok, "OK"}) do
      {:ok, conn}
    else
      {:ok, {:error, error}} -> {:refused, error}
      {:ok, _} -> {:error, "malformed reply", nil}
      {:error, why} -> {:error, why, nil}
      {:error, why, conn} -> {:error, why, conn}
    end
  end

  defp connection(state), do: {:ok, state.conn}

  defp tls(given) do
    roots =
      if Keyword.has_key?(given, :cacertfile) or Keyword.has_key?(given, :cacerts),
        do: [],
        else: [cacerts: :public_key.cacerts_get()]

    match = :public_key.pkix_verify_hostname_match_fun(:https)

    Keyword.merge(
      [verify: :verify_peer, depth: 4, log_level: :none, customize_hostname_check: [match_fun: match]] ++ roots,
      given
    )
  end

  # ---- the protocol ----------------------------------------------------------------------------------------------

  # {:ok, reply}, where the reply may be {:error, text}; or {:error, why, conn}, after which the connection is useless.
  defp exchange({module, socket} = conn, words, timeout) do
    words = Enum.map(words, &to_string/1)
    command = ["*#{length(words)}\r\n" | Enum.map(words, &["$#{byte_size(&1)}\r\n", &1, "\r\n"])]
    until = now() + timeout

    with :ok <- module.send(socket, command), {:ok, reply, ""} <- reply(conn, "", until, 0) do
      {:ok, reply}
    else
      {:ok, _, _} -> {:error, "malformed reply", conn}
      {:error, why} -> {:error, why, conn}
    end
  end

  defp reply(conn, buffer, until, depth) do
    with {:ok, <<kind, rest::binary>>, buffer} <- line(conn, buffer, until) do
      size = if rest =~ ~r/\A-?\d{1,19}\z/, do: String.to_integer(rest)

      cond do
        kind == ?+ -> {:ok, rest, buffer}
        kind == ?- -> {:ok, {:error, rest}, buffer}
        kind == ?: and size != nil -> {:ok, size, buffer}
        kind in [?$, ?*] and size == -1 -> {:ok, nil, buffer}
        kind == ?$ and size in 0..@most_text -> bytes(conn, buffer, size, until)
        kind == ?* and size in 0..@most_items and depth < 4 -> items(conn, buffer, size, until, depth, [])
        true -> {:error, "malformed reply"}
      end
    else
      {:ok, "", _} -> {:error, "malformed reply"}
      error -> error
    end
  end

  defp items(_conn, buffer, 0, _until, _depth, items), do: {:ok, Enum.reverse(items), buffer}

  defp items(conn, buffer, left, until, depth, items) do
    with {:ok, item, buffer} <- reply(conn, buffer, until, depth + 1),
         do: items(conn, buffer, left - 1, until, depth, [item | items])
  end

  defp line(conn, buffer, until) do
    case :binary.split(buffer, "\r\n") do
      [line, rest] -> {:ok, line, rest}
      [_] when byte_size(buffer) > @most_text -> {:error, "malformed reply"}
      [_] -> with {:ok, buffer} <- more(conn, buffer, until), do: line(conn, buffer, until)
    end
  end

  defp bytes(conn, buffer, size, until) do
    case buffer do
      <<text::binary-size(size), "\r\n", rest::binary>> -> {:ok, text, rest}
      _ when byte_size(buffer) >= size + 2 -> {:error, "malformed reply"}
      _ -> with {:ok, buffer} <- more(conn, buffer, until), do: bytes(conn, buffer, size, until)
    end
  end

  defp more({module, socket}, buffer, until) do
    with {:ok, data} <- module.recv(socket, 0, max(until - now(), 0)), do: {:ok, buffer <> data}
  end

  defp reason(why) when is_binary(why), do: why
  defp reason({:tls_alert, {_, text}}), do: to_string(text)
  defp reason(why) when is_atom(why), do: why |> :inet.format_error() |> to_string()
  defp reason(why), do: inspect(why, limit: 8, printable_limit: 200)
end
