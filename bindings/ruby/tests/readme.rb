# SPDX-License-Identifier: MIT
# Runs the blocks of README.md, given as one file, with a real ActiveRecord and SQLite.
require_relative "../lib/firn"
$LOAD_PATH.unshift File.expand_path("../lib", __dir__)
require "active_record"

ActiveRecord::Base.establish_connection(adapter: "sqlite3", database: ":memory:")
ActiveRecord::Schema.verbose = false
ActiveRecord::Schema.define { create_table(:orders) { |table| table.integer :total } }
eval(File.read(ARGV[0]), TOPLEVEL_BINDING, ARGV[0]) # rubocop:disable Security/Eval
bounds = IDS.range("snowflake", Time.now - 3600, Time.now + 3600)
abort "the orders have no IDs of this hour: #{Order.pluck(:id)}" unless Order.where(id: Range.new(*bounds)).count == 3
abort "an iterator is lazy" unless IDS.ids("snowflake").lazy.first(3).uniq.size == 3
