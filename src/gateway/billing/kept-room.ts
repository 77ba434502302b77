import { type Lease, release, reserve } from './lease.ts'
import type { HoldRequest, KeptRoom, SpendLimit } from './port.ts'

/** Makes a room from money that is already reserved in the lease and its limit. The lease counts as used until the room is gone. */
export function createRoom(lease: Lease, reservedPicoUsd: bigint, spending?: SpendLimit): KeptRoom {
  let amountPicoUsd = reservedPicoUsd
  let isOpen = true
  lease.undecided += 1
  return {
    lease,
    get amountPicoUsd() {
      return amountPicoUsd
    },
    release() {
      if (!isOpen) return
      isOpen = false
      lease.undecided -= 1
      release(lease, amountPicoUsd)
      spending?.release(amountPicoUsd, 0n)
      amountPicoUsd = 0n
    },
  }
}

/** What a room has in this lease: nothing where it is of an earlier period or of an instance that is over. */
export function roomIn(lease: Lease, room: KeptRoom | undefined): bigint {
  return room?.lease === lease ? room.amountPicoUsd : 0n
}

/** Reserves an amount, of which the room is a part. Synchronous: nobody else gets the room in between. */
export function reserveWith(
  lease: Lease,
  amountPicoUsd: bigint,
  { room, spending }: Pick<HoldRequest, 'room' | 'spending'>,
): void {
  room?.release()
  reserve(lease, amountPicoUsd)
  spending?.reserve(amountPicoUsd)
}
