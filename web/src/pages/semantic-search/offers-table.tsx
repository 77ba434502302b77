import type { SemanticSearchBody } from '@contract/semantic-search.ts'
import { Badge, Button, Table, Text } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import { useFormat } from '../../i18n/use-format.ts'
import { Dimmed } from '../../ui/dimmed.tsx'
import { TableFrame } from '../../ui/table-frame.tsx'
import { useSemanticSearch } from './use-semantic-search.ts'

type Offer = SemanticSearchBody['offers'][number]

/** The models with what embedding everything costs; one click begins. */
export function OffersTable({ view }: { view: SemanticSearchBody }) {
  const { t } = useTranslation('semantic-search')
  const format = useFormat()
  const { change } = useSemanticSearch(view)
  const { documents, tokens } = view.stored
  return (
    <>
      <Text size="sm">
        {t('offers.stored', { count: documents, documents: format.number(documents), tokens: format.compact(tokens) })}
      </Text>
      <TableFrame label={t('offers.title')} minimumWidth={720} hasCards>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t('offers.model')}</Table.Th>
            <Table.Th>{t('offers.place')}</Table.Th>
            <Table.Th>{t('offers.price')}</Table.Th>
            <Table.Th>{t('offers.cost')}</Table.Th>
            <Table.Th />
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {view.offers.map((offer) => (
            <Table.Tr key={offer.model}>
              <Table.Td>
                <Text size="sm" fw={500} style={{ overflowWrap: 'anywhere' }}>
                  {offer.model}
                </Text>
                <Dimmed size="xs">{offer.providers.join(', ')}</Dimmed>
              </Table.Td>
              <Table.Td data-label={t('offers.place')}>
                <Place offer={offer} />
              </Table.Td>
              <Table.Td data-label={t('offers.price')}>{format.money(offer.inputPerMillion)}</Table.Td>
              <Table.Td data-label={t('offers.cost')}>{format.money(offer.cost)}</Table.Td>
              <Table.Td>
                {offer.model === view.model ? (
                  <Badge variant="light">{t('offers.chosen')}</Badge>
                ) : (
                  <Button
                    size="compact-sm"
                    aria-label={t('offers.useModel', { model: offer.model })}
                    loading={change.isPending && change.variables === offer.model}
                    disabled={change.isPending}
                    onClick={() => change.mutate(offer.model)}
                  >
                    {t('offers.use')}
                  </Button>
                )}
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </TableFrame>
    </>
  )
}

/** Where the texts are sent. */
function Place({ offer: { hostings } }: { offer: Offer }) {
  const { t } = useTranslation('semantic-search')
  const known = hostings.length === 1 && (hostings[0] === 'eu' || hostings[0] === 'local') ? hostings[0] : null
  return (
    <Text size="sm" fw={known ? undefined : 600}>
      {known ? t(`place.${known}`) : t('place.other', { hostings: hostings.join(', ') })}
    </Text>
  )
}
