# SPDX-License-Identifier: MIT
# The driver of the Elixir client: see test/clients/clients.py. In the locale C its output would be Latin-1.
:ok = :io.setopts(encoding: :unicode)

defmodule Drive do
  def run(state) do
    case IO.gets("") do
      :eof ->
        :ok

      line ->
        [verb, name | words] = line |> String.trim_trailing("\n") |> String.split(" ") |> Enum.map(&URI.decode/1)

        state =
          try do
            {state, said} = answer(verb, name, words, state)
            IO.puts(Enum.join(["ok" | said], " "))
            state
          rescue
            error in Firn.Error ->
              IO.puts("error #{error.kind} #{error.code || "-"} #{String.replace(error.message, ~r/\s+/, " ")}")
              state
          end

        run(state)
    end
  end

  defp answer("open", name, words, state) do
    given = Map.new(words, &List.to_tuple(String.split(&1, "=", parts: 2)))

    numbers =
      for key <- ~w(connect_timeout timeout max_wait block),
          given[key],
          do: {String.to_atom(key), String.to_integer(given[key])}

    others = for {key, option} <- [{"token", :token}], given[key], do: {option, given[key]}
    ssl = if given["ca"], do: [ssl: [cacertfile: given["ca"]]], else: []
    {:ok, firn} = Firn.start_link([addresses: String.split(given["addresses"], ",")] ++ numbers ++ others ++ ssl)
    {Map.put(state, name, firn), []}
  end

  defp answer("ids", name, [scheme, age, n, pause], state) do
    key = {name, scheme, age}

    state =
      Map.put_new_lazy(state, key, fn -> start(Firn.ids(state[name], scheme, max_age: String.to_integer(age))) end)

    taken =
      for i <- 1..String.to_integer(n) do
        if i > 1, do: Process.sleep(String.to_integer(pause))
        send(state[key], {:take, self()})

        receive do
          {:id, id} -> id
        end
      end

    {state, taken}
  end

  # A stream that was left in the middle, and is continued twice.
  defp answer("copy", name, [scheme, n], state) do
    step = fn id, ids -> {:suspend, [id | ids]} end
    ids = Firn.ids(state[name], scheme, max_age: 3_600_000)

    {:suspended, _, continue} =
      Enum.reduce(1..20, Enumerable.reduce(ids, {:cont, []}, step), fn _, {_, _, more} -> more.({:cont, []}) end)

    taken =
      for _ <- 1..2 do
        {_, ids} =
          Enum.reduce(1..String.to_integer(n), {continue, []}, fn _, {more, ids} ->
            {:suspended, ids, more} = more.({:cont, ids})
            {more, ids}
          end)

        ids
      end

    {state, Enum.concat(taken)}
  end

  defp answer(verb, name, words, state), do: {state, plain(verb, state[name], words)}

  defp plain("next", firn, [scheme]), do: [Firn.next!(firn, scheme)]
  defp plain("many", firn, [scheme, n]), do: Firn.many!(firn, scheme, String.to_integer(n))
  defp plain("at", firn, [scheme, time, n]), do: Firn.at!(firn, scheme, time, String.to_integer(n))
  defp plain("kind", firn, [scheme]), do: [if(is_integer(Firn.next!(firn, scheme)), do: "integer", else: "text")]
  defp plain("show", firn, [id]), do: firn |> Firn.show!(id) |> Map.take(["scheme", "time"]) |> Map.values()
  defp plain("range", firn, [scheme, from, to]), do: firn |> Firn.range!(scheme, from, to) |> Tuple.to_list()
  defp plain("convert", firn, [id, form]), do: [Firn.convert!(firn, id, form)]
  defp plain("guess", firn, [id]), do: Firn.guess!(firn, id)
  defp plain("integer", firn, [key]), do: [Firn.integer!(firn, key)]
  defp plain("print", firn, []), do: [firn |> :sys.get_state() |> inspect() |> URI.encode_www_form()]

  defp plain("crowd", firn, [scheme]) do
    1..8
    |> Task.async_stream(
      fn _ ->
        Enum.take(Firn.ids(firn, scheme, max_age: 3_600_000), 100) ++ for(_ <- 1..20, do: Firn.next!(firn, scheme))
      end,
      max_concurrency: 8,
      timeout: 60_000
    )
    |> Enum.flat_map(fn {:ok, ids} -> ids end)
  end

  defp plain("interrupt", firn, [scheme, ms]) do
    task = Task.Supervisor.async_nolink(Drive.Tasks, fn -> Firn.next!(firn, scheme) end)

    case Task.yield(task, String.to_integer(ms)) || Task.shutdown(task, :brutal_kill) do
      {:ok, id} -> [id]
      nil -> ["interrupted"]
    end
  end

  defp plain("spend", firn, [scheme, n]) do
    n = String.to_integer(n)
    {next, _} = :timer.tc(fn -> for _ <- 1..n, do: Firn.next!(firn, scheme) end)

    {block, _} =
      :timer.tc(fn -> firn |> Firn.ids(scheme, max_age: 3_600_000) |> Stream.take(n * 100) |> Stream.run() end)

    [div(next * 1000, n), div(block * 10, n)]
  end

  defp plain("integers", firn, [key, n]) do
    first..last//step = Firn.integers!(firn, key, String.to_integer(n))
    [first, last, step]
  end

  # A process that enumerates a stream, an ID for each request.
  defp start(ids) do
    spawn_link(fn ->
      Stream.repeatedly(fn -> receive do: ({:take, from} -> from) end)
      |> Stream.zip(ids)
      |> Enum.each(fn {from, id} -> send(from, {:id, id}) end)
    end)
  end
end

{:ok, _} = Task.Supervisor.start_link(name: Drive.Tasks)
Drive.run(%{})
