<?php
// SPDX-License-Identifier: MIT
// Runs the blocks of README.md, given as one file each, with a real Eloquent and SQLite. app() is Laravel's own helper.
require __DIR__ . '/../src/Firn.php';
error_reporting(E_ALL & ~E_DEPRECATED); // Illuminate 8 on PHP 8.2
require 'Illuminate/Database/autoload.php';

use Illuminate\Container\Container;

function app(string $class): mixed
{
    return Container::getInstance()->make($class);
}
function stop(string $why): never
{
    fwrite(STDERR, "$why\n");
    exit(1);
}
$capsule = new Illuminate\Database\Capsule\Manager();
$capsule->addConnection(['driver' => 'sqlite', 'database' => ':memory:']);
$capsule->setEventDispatcher(new Illuminate\Events\Dispatcher());
$capsule->setAsGlobal();
$capsule->bootEloquent();
$capsule->schema()->create('orders', function ($table) {
    $table->unsignedBigInteger('id')->primary();
    $table->integer('total');
    $table->timestamps();
});
$capsule->schema()->create('items', function ($table) {
    $table->increments('id');
    $table->unsignedBigInteger('ref')->nullable();
});
$capsule->table('items')->insert([['ref' => null], ['ref' => null], ['ref' => null]]);
$provider = new class {
    public Container $app;

    public function run(string $file): void
    {
        $this->app = Container::getInstance();
        require $file;
    }
};
foreach (array_slice($argv, 1) as $file) {
    $provider->run($file);
}
$bounds = app(Firn\Client::class)->range('snowflake', new DateTimeImmutable('-1 hour'), new DateTimeImmutable('+1 hour'));
$found = Order::whereBetween('id', $bounds)->get();
if (Item::whereBetween('ref', $bounds)->distinct()->count('ref') !== 3) {
    stop('the items have no ID each: ' . Item::all());
}
$capsule->schema()->table('items', function ($table) {
    $table->unsignedBigInteger('same')->default(app(Firn\Client::class)->next('snowflake'));
});
if (Item::distinct()->count('same') !== 1) {
    stop('a default is not one ID for all rows, as the README says');
}
if (count($found) !== 1 || !is_int($found[0]->id) || $found[0]->id !== Order::first()->id) {
    stop("the order has no ID of this hour: $found");
}
foreach (app(Firn\Client::class)->ids('snowflake') as $id) {
    exit($id > $found[0]->id ? 0 : 1);
}
