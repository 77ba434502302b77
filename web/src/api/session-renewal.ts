/** What a request does whose session has expired: the person signs in again, and the request is sent once more. */

type Renew = () => Promise<boolean>

let renew: Renew | undefined
let pending: Promise<boolean> | undefined

/** `ask` resolves to true when the same person has signed in again. The app provides it. */
export function onExpiredSession(ask: Renew): void {
  renew = ask
}

/** One dialog for all requests that fail meanwhile. Resolves to false where nobody can sign in. */
export function renewSession(): Promise<boolean> {
  pending ??= (renew?.() ?? Promise.resolve(false)).finally(() => (pending = undefined))
  return pending
}
