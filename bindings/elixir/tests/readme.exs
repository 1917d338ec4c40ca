# SPDX-License-Identifier: MIT
# Runs the blocks of README.md, given as one file. Debian has no Ecto: this stub of Ecto.Schema only keeps its arguments
# and fills a primary key as Ecto does, by its module, function and arguments.
defmodule Ecto.Schema do
  defmacro __using__(_),
    do:
      quote(
        do:
          (
            import Ecto.Schema
            Module.register_attribute(__MODULE__, :names, accumulate: true)
          )
      )

  defmacro schema(_source, do: block) do
    quote do
      unquote(block)
      {id, type, options} = @primary_key
      defstruct [id | @names]
      @generated {id, type, options[:autogenerate]}
      def generated, do: @generated
    end
  end

  defmacro field(name, _type), do: quote(do: @names(unquote(name)))
end

Code.eval_file(hd(System.argv()))
{:id, :integer, {module, function, args}} = MyApp.Order.generated()
order = struct!(MyApp.Order, id: apply(module, function, args), total: 5)

{least, greatest} =
  Firn.range!(MyApp.Ids, "snowflake", DateTime.add(DateTime.utc_now(), -3600), DateTime.add(DateTime.utc_now(), 3600))

true = order.id in least..greatest
