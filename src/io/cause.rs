//! What can be wrong with a file.

use crate::dtype::DType;
use crate::error::causes;

/// What to do about a file that is not what it claims to be.
const DAMAGED: &str = "the file is damaged, or was not written whole: fetch or write it again";

causes! {
    #[allow(dead_code, reason = "each format has causes of its own, and may be all there is")]
    pub(super) enum ArchiveCause;

    Unreadable { why: String }, File:
        ("the file cannot be read: {why}")
        help ("give the path of a file that this program may read");
    Undescribed { dtype: DType }, DType:
        ("numpy has no {dtype}")
        help ("cast it to f32, which holds all of its values");
    Unwritten { why: String }, File:
        ("the file cannot be written: {why}")
        help ("what was there before is still there; look at the space and the permissions");
    Reserved, Mismatch:
        ("a file has its remarks under this name")
        help ("give the tensor another name");
    LongName { bytes: usize, most: usize }, Mismatch:
        ("its name has {bytes} bytes, {most} are the most")
        help ("give it a shorter name");
    Remarks { given: usize, most: usize }, Limit:
        ("{given} remarks, {most} are the most")
        help ("keep fewer: `archive.remarks(|name| ..)` leaves some out; what is large goes into a \
               file of its own");
    Values { given: u64, most: u64 }, Limit:
        ("lists of {given} values, {most} are the most")
        help ("leave the longest out: `archive.remarks(|name| ..)` says which remarks are read");
    LongHeader { bytes: u64, most: u64 }, Mismatch:
        ("the header would have {bytes} bytes, {most} are the most")
        help ("save the tensors in several files");
    Unsettled { why: String }, File:
        ("the file is written, and may be the old one after a crash: {why}")
        help ("its folder cannot be synced: save to another file system, or save again");
    Format { begins: String }, File:
        ("no format that is compiled in begins with {begins}")
        help ("the formats are features of the crate: `safetensors`, `npy`, `npz`, `gguf`");
    Cut { what: String, needs: u128, has: u64 }, File:
        ("{what} {needs} bytes, there are {has}")
        help ("{DAMAGED}");
    Large { what: &'static str, bytes: u64, most: u64 }, File:
        ("{what} of {bytes} bytes, {most} are the most")
        help ("{DAMAGED}");
    Header { why: String }, File:
        ("the header means nothing: {why}")
        help ("{DAMAGED}");
    Version { version: u32, reads: &'static str }, File:
        ("the header is of version {version}, wharf reads {reads}")
        help ("have a tool of that version write it again as one of these");
    BigEndian, File:
        ("the file is big-endian")
        help ("convert it to little-endian where it was made");
    Twice { name: String }, File:
        ("{name:?} is there twice")
        help ("write it again, with each name once");
    Bytes { dims: Vec<u64>, dtype: String, needs: u128, has: u64 }, File:
        ("{dims:?} of {dtype} takes {needs} bytes, the header gives it {has}")
        help ("{DAMAGED}");
    Shape { dims: Vec<u64> }, File:
        ("{dims:?} has more elements than can be counted, {most}", most = isize::MAX)
        help ("{DAMAGED}");
    Backwards { begin: u64, end: u64 }, File:
        ("it lies at bytes {begin}..{end}, which end before they begin")
        help ("{DAMAGED}");
    Overlap { begin: u64, end: u64 }, File:
        ("it begins at byte {begin}, before the tensor before it ends at {end}")
        help ("{DAMAGED}");
    Gap { begin: u64, end: u64 }, File:
        ("the bytes {begin}..{end} belong to no tensor")
        help ("{DAMAGED}");
    Path, File:
        ("its name leads out of a folder, or has characters that no name has")
        help ("name it otherwise: no \"..\", no backslash, no slash in front");
    Alien, File:
        ("it is no array, whose name ends in .npy")
        help ("an npz has arrays only, as `np.savez` writes them");
    Method { method: u16 }, File:
        ("it is packed by method {method}, not stored (0) or deflated (8)")
        help ("write the file with `np.savez`");
    Swollen { packed: u64, bytes: u64 }, File:
        ("{packed} bytes cannot inflate to {bytes}")
        help ("{DAMAGED}");
    Inflate { why: String }, File:
        ("it cannot be inflated: {why}")
        help ("{DAMAGED}");
    Longer { bytes: u64 }, File:
        ("it inflates to more than the {bytes} bytes that it promises")
        help ("{DAMAGED}");
    Checksum { crc: u32, want: u32 }, File:
        ("its checksum is {crc:08x}, not {want:08x}")
        help ("{DAMAGED}");
    Alone, File:
        ("it is an index of files, and in memory none lies beside it")
        help ("open the index by its path, or each of its files by its bytes");
    Shard { file: String }, File:
        ("the index names the file {file:?}, which is no plain name")
        help ("the files of an index lie beside it: fetch it from somewhere else");
    Missing { file: String, why: String }, File:
        ("shard {file:?}: {why}")
        help ("shards lie in one folder, beside their index if they have one: fetch all of them");
    OneShard { shard: u64, of: u64 }, File:
        ("it is shard {shard} of {of}, and nothing says where the others are")
        help ("open it by its path, beside the others, each named like \
               `name-00001-of-00003.gguf`; or join them (`llama-gguf-split --merge`)");
    OtherShard { file: String, shard: u64, of: u64 }, File:
        ("{file:?} says that it is shard {shard} of {of}")
        help ("shards of different files have been mixed: fetch all of them again");
    Lost { has: u64, wants: u64 }, File:
        ("its shards have {has} tensors, it promises {wants}")
        help ("shards of different files have been mixed: fetch all of them again");
    NotInShard { file: String }, File:
        ("the index has it in {file:?}, which does not")
        help ("index and files are of different versions: fetch all of them again");
    Elsewhere { file: String, place: String }, File:
        ("{file:?} has it, and the index has it in {place:?}")
        help ("index and files are of different versions: fetch all of them again");
    NotInIndex { file: String }, File:
        ("{file:?} has it, and the index does not")
        help ("index and files are of different versions: fetch all of them again");
    Claimed { part: String }, File:
        ("its blocks would be {part:?}, which is another tensor's name")
        help ("rename one of the two where the file is written: blocks are `name.values` and \
               `name.scales`");
    Wanted { part: String }, Mismatch:
        ("in blocks it would be {part:?}, which is another tensor's name")
        help ("let it arrive as numbers, or leave one of the two out (`archive.keep(..)`)");
    Foreign { dtype: String, count: usize, of: usize, names: String }, Rejected:
        ("{count} of {of} tensors are of dtypes that wharf does not have: {names} ({dtype})")
        help ("{}leave them out (`archive.keep(|tensor| tensor.dtype().is_some())`), or convert \
               the file",
              if dtype.split(", ").any(|one| one.starts_with('>')) {
                  "numpy's `.astype('<f4')`, or the like, turns the bytes of `>`; else "
              } else {
                  ""
              });
    Changed { bytes: u64, at: u64 }, File:
        ("{bytes} bytes at {at} are no longer there")
        help ("the file was changed while it was read: let whoever writes it finish");
}
