// SPDX-License-Identifier: MIT
// Not the real one: a name and its signatures, for test/Frameworks.java.
package org.hibernate.generator;

public interface Generator extends java.io.Serializable {
    boolean generatedOnExecution();

    java.util.EnumSet<EventType> getEventTypes();
}
