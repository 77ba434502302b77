import { IconReceipt2 } from '@tabler/icons-react'
import { useTranslation } from 'react-i18next'
import { AnchorLink } from '../../../ui/link.tsx'
import { spaceRoute } from '../space-route.tsx'

/** Links to the receipts of an answer: one for each call of the model, numbered where there are several. */
export function ReceiptLinks({ requestIds }: { requestIds: readonly string[] }) {
  const { t } = useTranslation('spaces')
  const { organisationId } = spaceRoute.useParams()
  return requestIds.map((requestId, index) => (
    <AnchorLink
      key={requestId}
      to="/organisations/$organisationId/receipts/$requestId"
      params={{ organisationId, requestId }}
      inherit
    >
      <IconReceipt2 size={13} aria-hidden />{' '}
      {requestIds.length === 1 ? t('chat.receipt') : t('chat.receiptNumber', { number: index + 1 })}
    </AnchorLink>
  ))
}
