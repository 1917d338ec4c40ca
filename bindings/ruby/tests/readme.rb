# SPDX-License-Identifier: MIT
# Runs the blocks of README.md, given as one file, with a real ActiveRecord and SQLite.
require_relative "../lib/firn"
$LOAD_PATH.unshift File.expand_path("../lib", __dir__)
require "active_record"

ActiveRecord::Base.establish_connection(adapter: "sqlite3", database: ":memory:")
ActiveRecord::Schema.verbose = false
ActiveRecord::Schema.define do
  create_table(:orders) { |table| table.integer :total }
  create_table(:items) { |table| table.integer :total }
  execute "INSERT INTO items (total) VALUES (1), (2), (3)"
  add_column :items, :ref, :bigint
end
eval(File.read(ARGV[0]), TOPLEVEL_BINDING, ARGV[0]) # rubocop:disable Security/Eval
bounds = IDS.range("snowflake", Time.now - 3600, Time.now + 3600)
abort "the orders have no IDs of this hour: #{Order.pluck(:id)}" unless Order.where(id: Range.new(*bounds)).count == 3
abort "the items have no ID each: #{Item.pluck(:ref)}" unless Item.where(ref: Range.new(*bounds)).distinct.count(:ref) == 3
ActiveRecord::Schema.define { add_column :items, :same, :bigint, default: IDS.next("snowflake") }
abort "a default is not one ID for all rows, as the README says" unless Item.distinct.count(:same) == 1
Item.update_all(same: IDS.next("snowflake"))
abort "update_all does not give one ID to all rows, as the README says" unless Item.distinct.count(:same) == 1
abort "an iterator is lazy" unless IDS.ids("snowflake").lazy.first(3).uniq.size == 3
