// SPDX-License-Identifier: MIT
// Not the real one: a name and its signatures, for test/Frameworks.java.
package org.springframework.boot.autoconfigure.orm.jpa;

@FunctionalInterface
public interface HibernatePropertiesCustomizer {
    void customize(java.util.Map<String, Object> hibernateProperties);
}
