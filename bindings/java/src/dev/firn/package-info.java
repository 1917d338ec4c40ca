// SPDX-License-Identifier: MIT
/**
 * Unique IDs for distributed systems: every known scheme, unique by reservation.
 *
 * <p>{@link dev.firn.Generator} issues IDs. {@link dev.firn.Scheme} and {@link dev.firn.Id} read them, with pure functions.
 * {@link dev.firn.Segment} issues integers, and {@link dev.firn.OrderNumbers} encrypts integers. Every failure is a
 * {@link dev.firn.FirnException}. No method returns null, and null as an argument is a {@link NullPointerException}.
 */
package dev.firn;
