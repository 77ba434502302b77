import type { ReceiptBody } from '@contract/usage.ts'
import { createRoute } from '@tanstack/react-router'
import { jsonQuery } from '../../api/queries.ts'
import { organisationRoute } from '../../app/layout-routes.tsx'
import { lazyPage } from '../../app/lazy-page.ts'

/** A receipt never changes. */
export const receiptQuery = (requestId: string) =>
  jsonQuery<ReceiptBody>(['receipt', requestId], `/api/usage/${encodeURIComponent(requestId)}`, { staleTime: Infinity })

const receiptSearchRoute = createRoute({
  getParentRoute: () => organisationRoute,
  path: 'receipts',
  component: lazyPage('receipts', () => import('./receipt-page.tsx'), 'ReceiptSearchPage'),
})

const receiptRoute = createRoute({
  getParentRoute: () => organisationRoute,
  path: 'receipts/$requestId',
  loader: ({ context, params }) => context.queryClient.ensureQueryData(receiptQuery(params.requestId)),
  component: lazyPage('receipts', () => import('./receipt-page.tsx'), 'ReceiptPage'),
  errorComponent: lazyPage('receipts', () => import('./receipt-page.tsx'), 'ReceiptError'),
})

export const receiptRoutes = [receiptSearchRoute, receiptRoute] as const
