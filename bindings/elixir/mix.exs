# SPDX-License-Identifier: MIT
defmodule Firn.MixProject do
  use Mix.Project

  def project do
    [
      app: :firn,
      version: "0.1.0",
      elixir: "~> 1.14",
      description: "Unique IDs for distributed systems: a client of firn serve",
      package: [licenses: ["MIT"], links: %{"source" => "https://git.example/firn"}, files: ["lib", "mix.exs", "README.md"]]
    ]
  end

  def application, do: [extra_applications: [:ssl, :public_key]]
end
