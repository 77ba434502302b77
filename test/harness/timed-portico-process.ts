import { importProcess } from '../../src/app/bundle.ts'

/** The entry of a service that presumes silent instances dead after TEST_INSTANCE_EXPIRY_MS, which only this file reads. */
const { runProcess } = await importProcess()
await runProcess({ instanceExpiryMs: Number(process.env['TEST_INSTANCE_EXPIRY_MS']) })
