// SPDX-License-Identifier: MIT
import dev.firn.Generator;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.Statement;
import java.util.HashMap;
import java.util.Map;
import java.util.UUID;
import org.hibernate.engine.spi.SessionFactoryImplementor;
import org.hibernate.engine.spi.SharedSessionContractImplementor;
import org.hibernate.generator.EventTypeSets;
import org.springframework.boot.autoconfigure.orm.jpa.HibernatePropertiesCustomizer;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.core.env.MapPropertySource;

/**
 * The examples of README.md and docs/guides/languages.md. Spring is real (Debian's 4.3), JDBC is PostgreSQL's driver. Debian has no Spring Boot and no
 * Hibernate 6: test/stubs has interfaces with their names and signatures, so these examples compile and run, but never met
 * the real ones.
 */
final class Frameworks {
    private Frameworks() {
    }

    static void programs() throws Exception {
        for (String name : new String[] {"First", "Next"}) {
            Class.forName(name).getDeclaredMethod("main", String[].class).invoke(null, (Object) new String[0]);
        }
    }

    /** Jackson writes IDs as text, and reads them again, exactly. */
    static void json() throws Exception {
        Json.Order order = new Json.Order();
        try (Generator gen = Generator.of("snowflake").store("memory:").open()) {
            order.id = gen.nextLong();
            Check.same("{\"id\":\"" + order.id + "\",\"total\":0}", Json.mapper().writeValueAsString(order));
            Check.same(order.id, Json.mapper().readValue(Json.mapper().writeValueAsString(order), Json.Order.class).id);
            dev.firn.Id id = gen.next();
            Check.same("[\"" + id + "\"]", Json.mapper().writeValueAsString(java.util.List.of(id)));
        }
    }

    static void springAndHibernate() throws Exception {
        Generator firn;
        try (AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext()) {
            Map<String, Object> properties = Map.of("firn.scheme", "snowflake", "firn.store", "memory:");
            context.getEnvironment().getPropertySources().addFirst(new MapPropertySource("application.properties", properties));
            context.register(FirnConfiguration.class);
            context.refresh();
            firn = context.getBean(Generator.class);
            Check.that(firn.nextLong() > 0);
            Map<String, Object> hibernate = new HashMap<>();
            context.getBean(HibernatePropertiesCustomizer.class).customize(hibernate);
            FirnIds ids = new FirnIds();
            Check.same(EventTypeSets.INSERT_ONLY, ids.getEventTypes());
            Check.that(!ids.generatedOnExecution());
            Check.that((Long) ids.generate(session(hibernate), null, null, null) < (Long) ids.generate(session(hibernate), null, null, null));
            Check.same(FirnIds.class, FirnId.class.getAnnotation(org.hibernate.annotations.IdGeneratorType.class).value());
        }
        Check.fails(dev.firn.Code.USAGE, firn::nextLong); // the context has closed it
    }

    private static SharedSessionContractImplementor session(Map<String, Object> properties) {
        SessionFactoryImplementor factory = (SessionFactoryImplementor) Proxy.newProxyInstance(Frameworks.class.getClassLoader(),
            new Class<?>[] {SessionFactoryImplementor.class}, (self, method, args) -> properties);
        return (SharedSessionContractImplementor) Proxy.newProxyInstance(Frameworks.class.getClassLoader(),
            new Class<?>[] {SharedSessionContractImplementor.class}, (self, method, args) -> factory);
    }

    static void jdbc(String url) throws Exception {
        try (Connection connection = DriverManager.getConnection(url); Statement statement = connection.createStatement();
             Generator ids = Generator.of("snowflake").store("memory:").open(); Generator uuids = Generator.of("uuid7").open()) {
            statement.execute("create temporary table orders (id bigint primary key, event uuid not null)");
            for (int i = 0; i < 10; i++) {
                Orders.insert(connection, ids, uuids);
            }
            ResultSet rows = statement.executeQuery("select id, event from orders order by event");
            long last = 0;
            int count = 0;
            for (; rows.next(); count++) {
                Check.that(rows.getLong(1) > last);
                last = rows.getLong(1);
                Check.same(rows.getString(2), uuids.scheme().id(rows.getObject(2, UUID.class)).toString());
            }
            Check.same(10, count);
        }
    }
}
