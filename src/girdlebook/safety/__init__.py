"""The one gate for text that enters a prompt.  Pure functions."""

from girdlebook.safety.fence import fence as fence
from girdlebook.safety.scan import SCAN_LIMIT as SCAN_LIMIT
from girdlebook.safety.scan import SCANNER_VERSION as SCANNER_VERSION
from girdlebook.safety.scan import ScanResult as ScanResult
from girdlebook.safety.scan import scan as scan
