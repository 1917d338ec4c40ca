// SPDX-License-Identifier: MIT
// Not the real one: a name and its signatures, for test/Frameworks.java.
package org.hibernate.engine.spi;

public interface SharedSessionContractImplementor {
    SessionFactoryImplementor getFactory();
}
