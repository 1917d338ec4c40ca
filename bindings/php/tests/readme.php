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
if (count($found) !== 1 || !is_int($found[0]->id) || $found[0]->id !== Order::first()->id) {
    exit("the order has no ID of this hour: $found\n");
}
foreach (app(Firn\Client::class)->ids('snowflake') as $id) {
    exit($id > $found[0]->id ? 0 : 1);
}
