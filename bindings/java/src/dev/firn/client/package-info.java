// SPDX-License-Identifier: MIT
/**
 * A client of {@code firn serve}, over HTTP with {@link java.net.http.HttpClient}: pure Java, for every system.
 *
 * <p>{@link dev.firn.client.FirnClient} asks one of several servers. Failures are a {@link dev.firn.client.ServerException}.
 */
package dev.firn.client;
