// SPDX-License-Identifier: MIT
// Not the real one: a name and its signatures, for test/Frameworks.java.
package org.hibernate.generator;

public enum EventType { INSERT, UPDATE }
