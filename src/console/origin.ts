/** As the browser reached this server. The host and the scheme that a proxy states count only if `server.trustProxy` names it. */
export function originOf({ host, protocol }: { host: string; protocol: string }): string {
  return `${protocol}://${host}`
}
