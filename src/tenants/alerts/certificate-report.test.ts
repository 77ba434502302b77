import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import tls from 'node:tls'
import { expect, test } from 'vitest'
import { openTestDatabases } from '../../../test/harness/database.ts'
import { testCertificate, testCertificateKey } from '../../../test/upstream/test-certificate.ts'
import { sharedOwner, silentLog, systemClock } from '../../platform/kernel/index.ts'
import { loadCertificates } from './alerts.store.ts'
import { createCertificateReport } from './installation-reports.ts'

test('the end of the public certificate is reported, and stays known while the address cannot be reached', async () => {
  const databases = await openTestDatabases()
  const database = databases.control.for(sharedOwner)
  const server = tls.createServer({ cert: testCertificate, key: testCertificateKey })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  const { report, close } = createCertificateReport({
    database,
    publicUrl: `https://${host}`,
    clock: systemClock,
    log: silentLog,
  })
  await report()
  const reported = await loadCertificates(database, 60_000)
  expect(reported).toEqual([{ host, endsAt: new X509Certificate(testCertificate).validToDate }])
  server.close()
  await once(server, 'close')
  await report()
  expect(await loadCertificates(database, 60_000)).toEqual(reported)
  await close()
  await databases.drop()
})
