# SPDX-License-Identifier: MIT
# frozen_string_literal: true

Gem::Specification.new do |spec|
  spec.name = "firn"
  spec.version = "0.1.0"
  spec.summary = "Unique IDs for distributed systems: a client of firn serve"
  spec.authors = ["The authors of firn"]
  spec.license = "MIT"
  spec.homepage = "https://git.example/firn"
  spec.metadata["allowed_push_host"] = "https://git.example/firn" # no registry, until a name there is firn's
  spec.files = ["lib/firn.rb", "README.md"]
  spec.required_ruby_version = ">= 3.0"
  spec.add_runtime_dependency "redis", ">= 4.8", "< 6"
end
