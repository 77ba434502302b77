import type { ReceiptBody } from '@contract/usage.ts'
import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { jsonQuery } from '../../api/queries.ts'
import { organisationRoute } from '../../app/layout-routes.tsx'
import { withTexts } from '../../i18n/translations.ts'

/** A receipt never changes. */
export const receiptQuery = (requestId: string) =>
  jsonQuery<ReceiptBody>(['receipt', requestId], `/api/usage/${encodeURIComponent(requestId)}`, { staleTime: Infinity })

const receiptSearchRoute = createRoute({
  getParentRoute: () => organisationRoute,
  path: 'receipts',
  component: lazyRouteComponent(() => withTexts('receipts', import('./receipt-page.tsx')), 'ReceiptSearchPage'),
})

const receiptRoute = createRoute({
  getParentRoute: () => organisationRoute,
  path: 'receipts/$requestId',
  loader: ({ context, params }) => context.queryClient.ensureQueryData(receiptQuery(params.requestId)),
  component: lazyRouteComponent(() => withTexts('receipts', import('./receipt-page.tsx')), 'ReceiptPage'),
  errorComponent: lazyRouteComponent(() => withTexts('receipts', import('./receipt-page.tsx')), 'ReceiptError'),
})

export const receiptRoutes = [receiptSearchRoute, receiptRoute] as const
