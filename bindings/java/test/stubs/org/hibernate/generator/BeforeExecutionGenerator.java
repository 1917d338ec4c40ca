// SPDX-License-Identifier: MIT
// Not the real one: a name and its signatures, for test/Frameworks.java.
package org.hibernate.generator;

import org.hibernate.engine.spi.SharedSessionContractImplementor;

public interface BeforeExecutionGenerator extends Generator {
    Object generate(SharedSessionContractImplementor session, Object owner, Object currentValue, EventType eventType);

    @Override
    default boolean generatedOnExecution() {
        return false;
    }
}
