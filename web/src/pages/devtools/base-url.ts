/** The base URL of version 2, from that of version 1. */
export const version2Of = (baseUrl: string) => baseUrl.replace(/\/v1\/gateway$/, '/v2/gateway')
