// SPDX-License-Identifier: MIT
// Not the real one: a name and its signatures, for test/Frameworks.java.
package org.hibernate.generator;

import java.util.EnumSet;

public class EventTypeSets {
    public static final EnumSet<EventType> INSERT_ONLY = EnumSet.of(EventType.INSERT);
}
